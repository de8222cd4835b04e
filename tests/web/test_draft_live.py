"""While a draft is typed, its form shows what the server makes of it; nothing is saved."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from invoicing.fixed_point import SCALE
from invoicing.models import Customer, Document, TaxRate
from tests.factories import CustomerFactory, TaxRateFactory, UserFactory, make_draft
from tests.web.forms import ISOLATION, read_form

pytestmark = pytest.mark.sqlite  # a form is read and shown alike on both databases

NEW = "/documents/new"


def ask(desk: Any, form: Any, path: str = NEW, **more: str) -> Any:
    """Return what the server says of a form that is being typed."""
    known = {"proposed_for": form.get("customer_id", "")}
    answer = desk.post(path, {**known, **form, "live": "", **more})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    return answer.json()


def figures(html: str) -> list[tuple[str, str]]:
    """Return the totals with their names."""
    text = " ".join(ISOLATION.sub(r"\1", html).split())
    return re.findall(r"<dt>\s*(.*?)\s*</dt> <dd[^>]*>\s*(.*?)\s*</dd>", text)


def of_line(line: dict[str, str], number: int) -> dict[str, str]:
    return {f"line-{number}-{name}": text for name, text in line.items()}


@pytest.fixture
def reduced(db) -> TaxRate:
    return TaxRateFactory.create(name="VAT reduced", percentage_ten_thousandths=7 * SCALE)


def test_it_shows_each_amount_the_tax_of_each_rate_and_the_total(writer_desk, filled, reduced):
    second = {"description": "Book", "quantity": "2", "unit_price": "10"}
    form = filled | of_line(second | {"tax_rate_id": str(reduced.id)}, 1) | {"language": "en"}
    answer = ask(writer_desk, form)
    assert answer["amounts"] == ["14.17", "20.00"]
    assert figures(answer["totals"]) == [
        ("Net total", "€34.17"),
        ("VAT standard, 19% on €14.17", "€2.69"),
        ("VAT reduced, 7% on €20.00", "€1.40"),
        ("Tax total", "€4.09"),
        ("Total", "€38.26"),
    ]
    assert (answer["told"], answer["problems"], answer["fields"]) == ("Total: €38.26", {}, {})
    assert not Document.objects.exists()


def test_it_writes_amounts_in_each_language_that_a_document_may_have(writer_desk, filled):
    told = ask(writer_desk, filled | {"language": "fr"})["told"]
    assert told == "Total: 16,86\N{NO-BREAK SPACE}\N{EURO SIGN}"


def test_it_shows_what_saving_would_save(writer_desk, filled):
    answer = ask(writer_desk, filled)
    writer_desk.post(NEW, {**filled, "save": ""})
    draft = Document.objects.get()
    assert (draft.net_total, draft.grand_total) == (1417, 1686)
    assert figures(answer["totals"])[0] == ("Net total", "14,17 €")
    assert figures(answer["totals"])[-1] == ("Total", "16,86 €")


def test_lines_count_before_anything_else_is_typed(writer_desk, filled):
    form = {name: text for name, text in filled.items() if name != "customer_id"}
    answer = ask(writer_desk, form | {"line-0-description": "", "line-1-quantity": "3"})
    assert answer["amounts"] == ["14,17", ""]
    assert answer["problems"] == {}, "it is early to complain"
    assert "Line 2 is not counted yet." in answer["totals"]


def test_a_blank_line_is_neither_counted_nor_complained_of(writer_desk, filled, tax_rate):
    blank = {"description": "", "quantity": "", "unit_price": "", "discount_type": "percent"}
    answer = ask(writer_desk, filled | of_line(blank | {"tax_rate_id": str(tax_rate.id)}, 1))
    assert (answer["amounts"], answer["problems"]) == (["14,17", ""], {})
    assert "not counted" not in answer["totals"]


def test_a_mistake_is_told_beside_its_field_once_it_is_left(writer_desk, filled):
    form = filled | {"line-0-unit_price": "1,500", "due_date": "2026-03-01"}
    typing = ask(writer_desk, form, typing="line-0-unit_price")
    assert typing["problems"].keys() == {"id_due_date"}
    assert typing["amounts"] == [""]
    left = ask(writer_desk, form, typing="line-0-quantity")["problems"]
    assert left.keys() == {"id_due_date", "id_line-0-unit_price"}
    assert "This can be read in two ways." in left["id_line-0-unit_price"]
    assert "Must not be before the issue date." in left["id_due_date"]


def test_after_a_refusal_what_is_missing_stays_told(writer_desk, filled):
    form = filled | {"line-0-quantity": "", "customer_id": ""}
    assert ask(writer_desk, form)["problems"] == {}
    told = ask(writer_desk, form, tells_all="")["problems"]
    assert told.keys() == {"id_customer_id", "id_line-0-quantity"}


def test_a_tax_that_was_let_go_meanwhile_is_told_and_not_left_out(writer_desk, filled, tax_rate):
    TaxRate.objects.update(is_active=False)
    for form in (filled, filled | {"customer_id": ""}):
        answer = ask(writer_desk, form)
        assert answer["problems"].keys() == {"id_line-0-tax_rate_id"}
        assert figures(answer["totals"]) == []


def test_amounts_that_are_too_large_are_told(writer_desk, filled):
    line = {"line-0-unit_price": "9" * 16, "line-0-quantity": "900", "line-0-discount_value": ""}
    for form in (filled | line, filled | line | {"customer_id": ""}):
        answer = ask(writer_desk, form)
        assert answer["totals"].count("more than 18 digits") == 1
        assert figures(answer["totals"]) == []


def test_another_customer_brings_what_it_has_agreed_but_not_over_what_a_person_chose(
    writer_desk, filled, time_machine
):
    time_machine.move_to("2026-03-02T12:00:00+00:00")
    swiss = CustomerFactory.create(language="fr", currency_code="CHF", payment_days=10)
    form = read_form(writer_desk.get(NEW)) | {"customer_id": str(swiss.id)}
    assert ask(writer_desk, form)["fields"] == {
        "due_date": "2026-03-12",
        "currency_code": "CHF",
        "language": "fr",
        "proposed_for": str(swiss.id),
    }
    fields = ask(writer_desk, form | {"currency_code": "USD"})["fields"]
    assert fields.keys() == {"due_date", "language", "proposed_for"}
    draft = make_draft(customer=Customer.objects.exclude(pk=swiss.pk).get())
    path = f"/documents/{draft.id}/edit"
    edited = read_form(writer_desk.get(path)) | {"customer_id": str(swiss.id)}
    assert ask(writer_desk, edited, path)["fields"] == {}


def test_a_customer_out_of_reach_brings_nothing(sign_in, company, filled):
    hidden = CustomerFactory.create(language="fr", currency_code="CHF", name="Hidden")
    desk = sign_in(UserFactory.create(permissions=["invoices.view_document", "invoices.manage"]))
    form = read_form(desk.get(NEW)) | {"customer_id": str(hidden.id)}
    answer = ask(desk, form)
    assert {"currency_code", "language"} & answer["fields"].keys() == set()
    assert "Hidden" not in str(answer)


@pytest.mark.parametrize("path", ["new", "edit"])
def test_who_may_not_write_is_told_nothing(sign_in, customer, filled, path):
    draft = make_draft(customer=customer)
    desk = sign_in(UserFactory.create(permissions=["invoices.view_document"]))
    address = NEW if path == "new" else f"/documents/{draft.id}/edit"
    assert desk.post(address, {**filled, "live": ""}).status_code == 403


def test_it_takes_as_many_queries_for_a_hundred_lines_and_many_customers(
    writer_desk, filled, tax_rate
):
    line = {name.removeprefix("line-0-"): text for name, text in filled.items() if "-0-" in name}
    ask(writer_desk, filled)
    counts = []
    for lines in (1, 100):
        form = {**filled}
        for number in range(lines):
            form |= of_line(line, number)
        with CaptureQueriesContext(connection) as queries:
            ask(writer_desk, form | {"line-TOTAL_FORMS": str(lines)})
        counts.append(len(queries))
        CustomerFactory.create_batch(100)
    assert counts[0] == counts[1]
