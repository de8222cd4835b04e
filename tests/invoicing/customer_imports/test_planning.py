"""What each row would do, and what is wrong with it; a plan writes nothing."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from invoicing.customer_imports.planning import (
    NO_KEY,
    SEVERAL_WITH_NAME,
    SEVERAL_WITH_NUMBER,
    TOO_MANY_CELLS,
    Outcome,
)
from invoicing.customer_imports.waiting import plan_import
from invoicing.models import Customer, CustomerImport
from tests.factories import CustomerFactory
from tests.invoicing.customer_imports.imports import plan_of, problems_of, run, told, upload
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db

SAME_NAME = "the same name, postcode and VAT number. Give each row its customer number."


def test_a_plan_says_what_each_row_would_do_and_writes_nothing(delegate):
    CustomerFactory.create(customer_number="1", name="Old", city="Hamburg", postcode="1")
    CustomerFactory.create(name="Kept", postcode="2", vat_number="DE 136.695.976")
    before = take_snapshot("invoices")
    del before["invoices.CustomerImport"]
    plan = plan_of(
        delegate,
        "Kundennummer;Name;PLZ;Ort;Land;USt-IdNr.;Zahlungsziel",
        "1;New;;Bremen;Deutschland;;30",
        ";KEPT;2;;;DE136695976;",
        ";kept;2;Amsterdam;NL;de136695976;",
        "2;'=1+1;3;;;;",
        "3;B;;;Narnia;;4000",
    )
    kept = {"name": ("Kept", "kept"), "vat_number": ("DE 136.695.976", "de136695976")}
    assert told(plan) == [
        (
            2,
            "changed",
            {
                "name": ("Old", "New"),
                "city": ("Hamburg", "Bremen"),
                "country": ("NL", "DE"),
                "payment_days": (None, 30),
            },
        ),
        (3, "bad", ["Line 4 is about the same customer."]),
        (4, "bad", ["Line 3 is about the same customer."]),
        (5, "new", {"customer_number": ("", "2"), "name": ("", "=1+1"), "postcode": ("", "3")}),
        (
            6,
            "bad",
            [
                "Country: Select a valid choice. Narnia is not one of the available choices.",
                "Days to pay: Ensure this value is less than or equal to 366.",
            ],
        ),
    ]
    alone = plan_of(delegate, "Name;PLZ;Ort;USt-IdNr.", "kept;2;Amsterdam;de136695976")
    assert told(alone) == [(2, "changed", kept)]
    after = take_snapshot("invoices")
    del after["invoices.CustomerImport"]
    assert after == before
    assert CustomerImport.objects.count() == 1  # the second file took the place of the first


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (";;X", NO_KEY),
        ("9;;X", "Name: A new customer needs one."),
        ("9;A;X;;;;;;;more", TOO_MANY_CELLS),
        ("1;\x07;X", "Name: Leave out control characters."),
        ('1;"A\nB";X', "Name: Leave out control characters."),
        ("1;" + "x" * 201, "Name: Ensure this value has at most 200 characters (it has 201)."),
        ("1;;;nobody", "E-mail address: Enter a valid email address."),
        (
            "1;;;;Klingon",
            "Language: Select a valid choice. Klingon is not one of the available choices.",
        ),
        ("1;;;;;XXX", "Currency: Select a valid choice. XXX is not one of the available choices."),
        ("1;;;;;;soon", "Days to pay: Enter a whole number."),
        (
            "1;;;;;;;paper",
            "E-invoice: Select a valid choice. paper is not one of the available choices.",
        ),
        (
            "1;;;;;;;;me@a.example",
            "Electronic address scheme: Choose what this electronic address is.",
        ),
        ("7;;X", SEVERAL_WITH_NUMBER),
        (";Twin;10", SEVERAL_WITH_NAME),
    ],
)
def test_a_bad_row_says_what_is_wrong_in_a_sentence(delegate, row, problem):
    CustomerFactory.create(customer_number="1")
    for _ in range(2):
        CustomerFactory.create(customer_number="7", name="Twin", postcode="10", vat_number="")
    header = "Kundennummer;Name;PLZ;E-Mail;Sprache;Währung;Zahlungsziel;E-Rechnung;Peppol-ID"
    assert problems_of(plan_of(delegate, header, row)) == [(2, [problem])]


def test_two_rows_about_one_customer_are_bad_but_for_the_one_with_its_number(delegate):
    CustomerFactory.create(customer_number="1", name="A", postcode="", vat_number="")
    plan = plan_of(delegate, "Number,Name", "1,X", ",a", "2,B", "2,C", ",B", "5,New", ",New")
    assert problems_of(plan) == [
        (3, ["Line 2 is about the same customer."]),
        (4, ["Line 5 is about the same customer."]),
        (5, ["Line 4 is about the same customer."]),
        (
            8,
            [f"The customer of line 7 has {SAME_NAME}"],
        ),
    ]


def test_what_a_customer_had_before_is_kept_though_it_could_not_be_chosen_now(delegate):
    CustomerFactory.create(customer_number="1", name="A", country="ZZ", city="Hamburg")
    assert told(plan_of(delegate, "Number,Country", "1,ZZ")) == [(2, "unchanged", {})]
    plan = plan_of(delegate, "Number,Country,City", "1,ZZ,Bremen")
    assert told(plan) == [(2, "changed", {"city": ("Hamburg", "Bremen")})]


def test_a_hidden_customer_and_a_missing_one_are_the_same(stranger):
    rows = ("Number,Name,Postcode", "1,A,", ",Hidden,10")
    missing = told(plan_of(stranger, *rows))
    CustomerFactory.create(customer_number="1", name="A")
    CustomerFactory.create(customer_number="2", name="Hidden", postcode="10", vat_number="")
    assert told(plan_of(stranger, *rows)) == missing
    assert [outcome for _, outcome, _ in missing] == ["new", "new"]


def test_a_plan_costs_few_queries_however_many_rows_it_has(delegate, django_assert_num_queries):
    for number in range(20):
        CustomerFactory.create(customer_number=str(number))
    rows = ["Number,City", *(f"{number},Bremen" for number in range(20))]
    delegate.has_perm("any")
    kept = upload(delegate, *rows)
    with django_assert_num_queries(2):
        plan = plan_import(delegate, kept)
    assert len(plan.having(Outcome.CHANGED)) == 20


CELLS = st.tuples(
    st.sampled_from(["", "", "1", "2", "3"]),
    st.sampled_from(["", "A", "a", "B", "=C", "'=C"]),
    st.sampled_from(["", "10", "20"]),
    st.sampled_from(["", "DE 1", "de1"]),
    st.sampled_from(["", "Bremen", "Kiel"]),
)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(before=st.lists(CELLS, max_size=4), rows=st.lists(CELLS, min_size=1, max_size=6))
@example(before=[], rows=[("", "A", "", "", ""), ("1", "A", "", "", "Kiel")])
@example(before=[("1", "A", "10", "", "")], rows=[("1", "B", "", "", ""), ("", "B", "10", "", "")])
def test_what_was_imported_is_unchanged_by_the_same_file(delegate, before, rows):
    """Whatever was there before, and whatever is in the file."""
    Customer.objects.all().delete()
    names = ("customer_number", "name", "postcode", "vat_number", "city")
    for cells in before:
        CustomerFactory.create(**dict(zip(names, cells, strict=True)))
    lines = ["Number|Name|Postcode|VAT number|City", *("|".join(cells) for cells in rows)]
    if not any("".join(cells) for cells in rows):
        return
    first = plan_of(delegate, *lines)
    good = {row.line for row in first.rows if not row.problems}
    run(delegate, *lines)
    count = Customer.objects.count()
    assert count == len(before) + len(first.having(Outcome.NEW))
    again = plan_of(delegate, *lines)
    assert {row.line for row in again.having(Outcome.UNCHANGED)} >= good
    run(delegate, *lines)
    assert Customer.objects.count() == count or good != {row.line for row in again.rows}
