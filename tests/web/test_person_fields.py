"""What only a person writes of a draft goes all the way, and no agent sees or changes it."""

import re
from datetime import date
from typing import Any

import pytest

from agent_access.facts import fingerprint_facts
from invoicing.draft_fields import PersonInput
from invoicing.models import Document
from invoicing.services.drafts import create_draft, update_draft
from invoicing.services.issuing import issue_document
from invoicing.shown import FOR_PEOPLE
from invoicing.web.changes import Change, find_changes
from invoicing.web.drafts.forms import PersonForm
from tests.approvals import prepare
from tests.clocks import at
from tests.factories import ISSUED_AT, draft_input, line_input
from tests.web.forms import read_form, text_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


# The company declares its VAT in EUR, and the draft is in USD.
WRITTEN: dict[str, Any] = {
    "supply_date": "2026-02-01",
    "supply_end_date": "2026-02-28",
    "delivery_country": "BE",
    "buyer_reference": "04011000-12345-03",
    "exchange_rate": "1.085",
    "exchange_rate_base": "EUR",
    "exchange_rate_date": "2026-02-27",
}
# As people type them: 1.085 could be thousands as well.
TYPED = WRITTEN | {"exchange_rate": "1.0850"}
IN_COLUMNS = WRITTEN | {
    "supply_date": date(2026, 2, 1),
    "supply_end_date": date(2026, 2, 28),
    "exchange_rate": 1_085_000,
    "exchange_rate_date": date(2026, 2, 27),
}
# By field: another value, and how the person reads the change.
CHANGES: dict[str, tuple[str, Change]] = {
    "supply_date": (
        "2026-02-02",
        Change("Date of supply", "February 1, 2026", "February 2, 2026"),
    ),
    "supply_end_date": (
        "2026-03-01",
        Change("Last day of supply", "February 28, 2026", "March 1, 2026"),
    ),
    "delivery_country": ("CH", Change("Country of delivery", "Belgium", "Switzerland")),
    "buyer_reference": ("PO 9", Change("Buyer reference", "04011000-12345-03", "PO 9")),
    "exchange_rate": ("1.09", Change("Exchange rate", "1 EUR = 1.085", "1 EUR = 1.09")),
    "exchange_rate_base": ("USD", Change("Exchange rate", "1 EUR = 1.085", "1 USD = 1.085")),
    "exchange_rate_date": (
        "2026-02-26",
        Change("Date of the exchange rate", "February 27, 2026", "February 26, 2026"),
    ),
}


def by_person(**changes: Any) -> PersonInput:
    return PersonInput.model_validate(WRITTEN | changes)


def kept_by(document: Document) -> dict[str, Any]:
    return FOR_PEOPLE.values(Document.objects.get(pk=document.pk))


@pytest.fixture
def asked(customer, tax_rate) -> Any:
    return draft_input(customer, line_input(tax_rate_id=tax_rate.id), currency_code="USD")


@pytest.fixture
def draft(delegate, company, asked) -> Document:
    return create_draft(delegate, asked, by_person()).document


def test_every_field_is_in_the_form_and_tried_here():
    assert list(PersonInput.model_fields) == list(PersonForm.base_fields) == list(WRITTEN)
    assert list(CHANGES) == list(WRITTEN)


def test_a_person_types_them_and_changes_nothing_by_saving_again(writer_desk, filled):
    typed = filled | TYPED | {"currency_code": "USD"}
    assert writer_desk.post("/documents/new", {**typed, "save": ""}).status_code == 302
    draft = Document.objects.get()
    assert kept_by(draft) == IN_COLUMNS
    path = f"/documents/{draft.id}/edit"
    form = read_form(writer_desk.get(path))
    assert {name: form[name] for name in TYPED} == TYPED
    assert writer_desk.post(path, {**form, "save": ""}).status_code == 302
    assert (kept_by(draft), Document.objects.get().lock_version) == (IN_COLUMNS, 2)


def test_a_rate_may_be_the_price_of_the_invoices_currency_too(writer_desk, filled):
    typed = filled | TYPED | {"currency_code": "USD", "exchange_rate_base": "invoice"}
    writer_desk.post("/documents/new", {**typed, "save": ""})
    draft = Document.objects.get()
    assert draft.exchange_rate_base == "USD"
    form = read_form(writer_desk.get(f"/documents/{draft.id}/edit"))
    assert form["exchange_rate_base"] == "invoice"


@pytest.mark.parametrize(
    ("typed", "wrong", "problem"),
    [
        ({"supply_date": ""}, "supply_end_date", "Needs the first day of the period as well."),
        (
            {"supply_end_date": "2026-01-31"},
            "supply_end_date",
            "Must not be before the first day of the period.",
        ),
        (
            {"exchange_rate": ""},
            "exchange_rate_date",
            "Goes together with the exchange rate: give both or neither.",
        ),
        (
            {"exchange_rate_date": ""},
            "exchange_rate_date",
            "Goes together with the exchange rate: give both or neither.",
        ),
        (
            {"exchange_rate": "1.085"},
            "exchange_rate",
            "This can be read in two ways. Write 1085 or 1.0850.",
        ),
        (
            {"exchange_rate": "0"},
            "exchange_rate",
            "Must be a positive number of at most 9 digits before a dot and 6 after it.",
        ),
        ({"currency_code": "EUR"}, "exchange_rate", "Is only for another currency than EUR."),
        (
            {"buyer_reference": "x" * 101},
            "buyer_reference",
            "Must have at most 100 characters.",
        ),
    ],
)
def test_what_is_wrong_is_marked_alone_and_saves_nothing(
    writer_desk, filled, typed, wrong, problem
):
    form = filled | TYPED | {"currency_code": "USD"} | typed
    answer = writer_desk.post("/documents/new", {**form, "save": ""})
    page = text_of(answer)
    assert (answer.status_code, Document.objects.exists()) == (422, False)
    assert re.findall(r'<li><a href="#id_(\w+)">', page) == [wrong]
    assert problem in page
    assert '<details class="own" open>' in page


def test_what_differs_from_what_was_saved_meanwhile_is_named(writer_desk, delegate, draft, asked):
    path = f"/documents/{draft.id}/edit"
    form = read_form(writer_desk.get(path))
    update_draft(delegate, draft.pk, asked, by_person(delivery_country=""), lock_version=1)
    answer = writer_desk.post(path, {**form, "save": ""})
    shown = re.findall(r"<td[^>]*><span[^>]*>([^<]*)</span></td>", text_of(answer))
    assert [text.strip() for text in shown] == ["The customer’s", "Belgium"]  # noqa: RUF001  an apostrophe for readers


@pytest.mark.parametrize("name", WRITTEN)
def test_a_change_of_any_makes_an_approval_stale_and_is_told_in_words(delegate, draft, asked, name):
    prepared = prepare(draft, user=delegate)
    assert prepared.read().prepared.items() >= WRITTEN.items()
    other, told = CHANGES[name]
    update_draft(delegate, draft.pk, asked, by_person(**{name: other}), lock_version=1)
    snapshot = prepared.read()
    assert {"lock_version", name} <= {*snapshot.stale_fields}
    assert fingerprint_facts(snapshot.current) != prepared.approval.fingerprint
    assert told in find_changes(snapshot.prepared, snapshot.current)


def test_issuing_freezes_them_and_the_tax_in_the_companys_currency(draft):
    issued = issue_document(draft, clock=at(ISSUED_AT))
    assert kept_by(issued) == IN_COLUMNS
    # 19.00 USD of tax.
    assert (issued.national_currency, issued.national_tax_total) == ("EUR", 1751)
