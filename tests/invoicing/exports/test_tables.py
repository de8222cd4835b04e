import hashlib
from datetime import date

import pytest

from invoicing.access import EXPORT_PERMISSIONS, Permission
from invoicing.models import DocumentType
from invoicing.services.issuing import issue_document
from tests.administration import acts_written
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    TaxRateFactory,
    UserFactory,
    line_input,
    make_correction,
    make_draft,
    make_issued,
    withdraw,
)
from tests.invoicing.exports.files import ask, download
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

DOCUMENT_HEAD = (
    "\ufeffNumber,Type,Issue date,Due date,Supply date,Supply end date,Customer number,Customer,"
    "Country,VAT number,Buyer reference,Currency,Net total,Tax total,Grand total,"
    "Exchange rate,Base of the rate,Date of the rate,Tax currency,Tax in it,Corrects,Reason,"
    "Issued at (UTC),Notes,Reference\r\n"
)
LINE_HEAD = (
    "\ufeffNumber,Type,Issue date,Customer number,Customer,Currency,Line,Description,Quantity,"
    "Unit price,Discount,Net amount,Tax rate,Percentage,Category,Unit\r\n"
)


@pytest.fixture
def desk(sign_in, delegate):
    return sign_in(delegate)


@pytest.fixture
def issued(delegate):
    """An invoice of a taxed line with a discount, and one without tax; and its credit note."""
    rate = TaxRateFactory.create(name="VAT", category="S")
    lines = (
        line_input(
            description='Cable; =1+1, "long"',
            quantity=15000,
            unit="h",
            discount_type="percent",
            discount_value=1000,
            tax_rate_id=rate.id,
        ),
        line_input(description="-Delivery"),
    )
    customer = CustomerFactory.create(
        name="=Müller & Co", customer_number="10001", vat_number="NL1"
    )
    invoice = make_issued(user=delegate, customer=customer, lines=lines, reference="PO 7")
    note = make_correction(invoice, 10000, None)
    return invoice, issue_document(note, clock=at(ISSUED_AT))


def test_documents_are_rows_with_plain_amounts_and_defused_texts(desk, issued):
    assert download(desk, "documents").decode() == (
        f"{DOCUMENT_HEAD}"
        "INV-2026-0001,Invoice,2026-03-02,2026-04-01,,,10001,'=Müller & Co,NL,NL1,,"
        "EUR,167.50,12.83,180.33,,,,,,,,2026-03-02 09:30:00,,PO 7\r\n"
        "CN-2026-0001,Credit Note,2026-03-02,2026-03-02,,,10001,'=Müller & Co,NL,NL1,,"
        "EUR,-45.00,-8.55,-53.55,,,,,,INV-2026-0001,Delivered too little.,2026-03-02 09:30:00,,PO 7"
        "\r\n"
    )


def test_lines_are_rows_and_those_of_a_credit_note_are_negative(desk, issued):
    assert download(desk, "lines").decode() == (
        f"{LINE_HEAD}"
        "INV-2026-0001,Invoice,2026-03-02,10001,'=Müller & Co,EUR,1,"
        '"Cable;\' =1+1, ""long""",1.5,50.00,7.50,67.50,VAT,19,S,h\r\n'
        "INV-2026-0001,Invoice,2026-03-02,10001,'=Müller & Co,EUR,2,"
        "'-Delivery,2,50.00,0.00,100.00,,,,\r\n"
        "CN-2026-0001,Credit Note,2026-03-02,10001,'=Müller & Co,EUR,1,"
        '"Cable;\' =1+1, ""long""",-1,50.00,-5.00,-45.00,VAT,19,S,h\r\n'
    )


def test_only_what_was_chosen_leaves(desk, delegate, issued):
    make_issued(user=delegate, currency_code="USD")
    make_issued(user=delegate, issue_date=date(2026, 4, 1))
    make_draft(user=delegate)

    def numbers(**chosen: str) -> list[str]:
        rows = download(desk, "documents", **chosen).decode().splitlines()[1:]
        return [row.partition(",")[0] for row in rows]

    assert numbers() == ["INV-2026-0001", "CN-2026-0001", "INV-2026-0002"]
    assert numbers(type=DocumentType.CREDIT_NOTE) == ["CN-2026-0001"]
    assert numbers(currency_code="USD") == ["INV-2026-0002"]
    assert numbers(customer=str(issued[0].customer_id)) == ["INV-2026-0001", "CN-2026-0001"]
    assert numbers(first_day="2026-04-01", last_day="2026-04-01") == ["INV-2026-0003"]


@pytest.mark.parametrize("kind", ["documents", "lines", "originals", "datev"])
def test_a_person_gets_the_documents_of_their_own_customers_only(sign_in, stranger, issued, kind):
    desk = sign_in(stranger)
    before = acts_written()
    answer = ask(desk, kind)
    assert (answer.status_code, acts_written()) == (422, before)
    assert "No document that you may see was issued on these days" in main_of(answer)
    foreign = str(issued[0].customer_id)
    for each in (foreign, "none"):
        assert ask(desk, kind, customer=each).status_code == 404
    own = make_issued(customer=CustomerFactory.create(account_managers=[stranger]))
    rows = download(desk, "documents").decode().splitlines()[1:]
    assert [row.partition(",")[0] for row in rows] == [own.number]


@pytest.mark.parametrize("missing", EXPORT_PERMISSIONS)
def test_without_a_permission_nothing_leaves_and_nothing_is_audited(
    sign_in, delegate, issued, missing
):
    withdraw(delegate, missing)
    before = acts_written()
    desk = sign_in(delegate)
    assert desk.get("/exports").status_code == 403
    for kind in ("documents", "lines", "originals", "datev"):
        assert ask(desk, kind).status_code == 403
    assert acts_written() == before


def test_an_export_is_audited_with_counts_and_digests_only(desk, delegate, issued):
    before = acts_written()
    customer = str(issued[0].customer_id)
    answer = ask(desk, "documents", type="invoice", customer=customer)
    begun = (
        "export:begun",
        "documents",
        f"1 documents, 2026-03-01 to 2026-03-31, invoice, {customer}",
    )
    assert acts_written() == [*before, begun]
    content = b"".join(answer)
    digest = hashlib.sha256(content).hexdigest()
    finished = ("export:finished", "documents", f"{len(content)} bytes, SHA-256 {digest}")
    assert acts_written() == [*before, begun, finished]
    assert answer["Content-Disposition"] == (
        'attachment; filename="documents_2026-03-01_2026-03-31.csv"'
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"first_day": ""}, "This field is required."),
        ({"first_day": "2026-04-01"}, "The last day comes before the first."),
        ({"currency_code": "XXX"}, "Select a valid choice."),
        ({"kind": "secrets"}, "Select a valid choice."),
        ({"last_day": "0026-03-31"}, "four digits"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused_in_words(desk, issued, fields, said):
    before = acts_written()
    answer = ask(desk, **{"kind": "documents", **fields})
    assert (answer.status_code, acts_written()) == (422, before)
    assert said in main_of(answer)


def test_the_page_begins_with_the_last_month_and_is_found_by_those_who_may(
    sign_in, desk, time_machine, company
):
    time_machine.move_to("2026-03-20T12:00:00Z", tick=False)
    page = main_of(desk.get("/exports"))
    assert 'value="2026-02-01"' in page
    assert 'value="2026-02-28"' in page
    assert 'href="/exports"' in desk.get("/documents").content.decode()
    nobody = sign_in(UserFactory.create(permissions=[Permission.VIEW_DOCUMENT]))
    assert 'href="/exports"' not in nobody.get("/documents").content.decode()
