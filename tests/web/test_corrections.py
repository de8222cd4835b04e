"""Correcting an issued invoice on its page, and copying it."""

import re
from datetime import date

import pytest

from invoicing.access import Permission
from invoicing.fixed_point import SCALE
from invoicing.models import Customer, Document, TaxRate
from invoicing.services.issuing import issue_document
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    UserFactory,
    line_input,
    make_correction,
    make_draft,
    make_issued,
    make_staff,
)
from tests.snapshots import take_snapshot
from tests.web.forms import main_of, read_form, text_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


CORRECTOR = (Permission.VIEW_DOCUMENT, Permission.MANAGE, Permission.FINALIZE)


@pytest.fixture
def corrector(company):
    return make_staff(*CORRECTOR, Permission.VIEW_CUSTOMER)


@pytest.fixture
def desk(corrector, sign_in, time_machine):
    time_machine.move_to("2026-03-09T09:00:00+00:00")
    return sign_in(corrector)


@pytest.fixture
def invoice(corrector, customer, tax_rate):
    """Two lines of 3 x 50.00 at 19 %."""
    line = line_input(quantity=3 * SCALE, tax_rate_id=tax_rate.id, unit="h")
    return make_issued(user=corrector, customer=customer, lines=(line, line), due_date="2026-03-16")


@pytest.fixture
def path(invoice) -> str:
    return f"/documents/{invoice.id}/correct"


def fields_of(invoice: Document, *quantities: str) -> dict[str, str]:
    names = [f"quantity-{line.pk}" for line in invoice.lines.all()]
    return dict(zip(names, quantities, strict=True))


def issue(draft: Document) -> Document:
    return issue_document(draft, clock=at(ISSUED_AT))


def test_a_part_is_taken_back_issued_and_shown_both_ways(desk, invoice, path):
    assert f'<a class="button" href="{path}">Correct this invoice</a>' in text_of(
        desk.get(f"/documents/{invoice.id}")
    )
    page = desk.get(path)
    assert " \N{MULTIPLICATION SIGN} €50.00. Not credited yet: 3, net €150.00." in text_of(page)
    form = read_form(page)
    assert form.items() >= fields_of(invoice, "3", "3").items()
    assert (form["issue_date"], form["correction_reason"]) == ("2026-03-09", "")
    typed = {**form, "correction_reason": "One hour too many.", **fields_of(invoice, "1.5", "0")}
    answer = desk.post(path, typed)
    draft = Document.objects.get(corrects=invoice)
    assert answer["Location"] == f"/documents/{draft.id}?done"
    assert (draft.issue_date, draft.net_total, draft.tax_total) == (date(2026, 3, 9), 7500, 1425)

    shown = text_of(desk.get(answer["Location"]))
    assert f'Credit note for <a href="/documents/{invoice.id}">INV-2026-0001</a>' in shown
    issuing = desk.get(f"/documents/{draft.id}/issue")
    assert "Credit note for" in text_of(issuing)
    desk.post(f"/documents/{draft.id}/issue", read_form(issuing))
    assert Document.objects.get(pk=draft.pk).number == "CN-2026-0001"
    original = text_of(desk.get(f"/documents/{invoice.id}"))
    assert f'<a href="/documents/{draft.id}">CN-2026-0001</a> of March 9, 2026: €89.25' in original
    assert "Not credited yet: €267.75." in original
    assert "Credit note for INV-2026-0001" in text_of(desk.get("/documents"))
    assert read_form(desk.get(path)).items() >= fields_of(invoice, "1.5", "3").items()


def test_a_form_sent_twice_makes_one_draft(desk, invoice, path):
    form = read_form(desk.get(path)) | {"correction_reason": "Never delivered."}
    first, second = [desk.post(path, form)["Location"] for _ in range(2)]
    draft = Document.objects.get(corrects=invoice)
    assert first == second == f"/documents/{draft.id}?done"
    other = desk.post(path, form | fields_of(invoice, "1", ""))
    assert other.status_code == 409
    assert "this form has already created a draft" in text_of(other)
    assert Document.objects.filter(corrects=invoice).count() == 1
    desk.post(path, read_form(other))
    assert Document.objects.filter(corrects=invoice).count() == 2


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"correction_reason": " "}, "Write why the invoice is corrected"),
        ({"correction_reason": "x" * 501}, "Must have at most 500 characters."),
        ({"issue_date": ""}, "This field is required."),
        ({"issue_date": "2026-03-01"}, "Must not be before that of the invoice."),
        (("0", ""), "Nothing is credited: write a quantity in at least one line."),
        (("3.1", "1"), "Must be more than 0 and at most 3, the quantity left."),
        (("1.234", "1"), "This can be read in two ways."),
        (("-1", "1"), "Write digits, and a dot before decimals"),
    ],
)
def test_mistakes_are_told_beside_their_fields_and_save_nothing(desk, invoice, path, typed, told):
    form = read_form(desk.get(path)) | {"correction_reason": "Never delivered."}
    change = typed if isinstance(typed, dict) else fields_of(invoice, *typed)
    before = take_snapshot("invoices")
    answer = desk.post(path, form | change)
    assert (answer.status_code, told in text_of(answer)) == (422, True)
    assert re.search(r"<title>\s*Please correct: Correct INV-2026-0001", text_of(answer))
    assert take_snapshot("invoices") == before
    kept = read_form(answer)
    assert {name: kept[name] for name in change} == change | {
        name: text for name, text in change.items() if name not in kept
    }


def test_a_draft_is_changed_and_a_change_by_somebody_else_is_not_lost(desk, invoice):
    draft = make_correction(invoice)
    path = f"/documents/{draft.id}/change"
    assert f'href="{path}">Change</a>' in text_of(desk.get(f"/documents/{draft.id}"))
    form = read_form(desk.get(path))
    assert form["correction_reason"] == "Delivered too little."
    desk.post(path, form | fields_of(invoice, "2", ""))
    late = desk.post(path, form | fields_of(invoice, "1", ""))
    assert late.status_code == 409
    assert "somebody changed this draft while you were writing" in text_of(late)
    assert Document.objects.get(pk=draft.pk).net_total == 10_000
    answer = desk.post(path, read_form(late))
    assert answer["Location"] == f"/documents/{draft.id}?done"
    changed = Document.objects.get(pk=draft.pk)
    assert (changed.net_total, changed.lock_version) == (5000, 3)
    issue(changed)
    assert desk.post(path, form)["Location"] == f"/documents/{draft.id}?already"
    assert desk.get(path)["Location"] == f"/documents/{draft.id}"


def test_a_draft_for_which_too_little_is_left_by_now_says_to_change_it(desk, invoice):
    draft = make_correction(invoice)
    shown = desk.get(f"/documents/{draft.id}/issue")
    issue(make_correction(invoice, SCALE, None))
    answer = desk.post(f"/documents/{draft.id}/issue", read_form(shown))
    assert answer.status_code == 409
    assert "another correction of INV-2026-0001 was issued since it was written" in text_of(answer)
    assert f'<a href="/documents/{draft.id}/change">Change it first</a>' in text_of(answer)
    assert "Issue now" not in text_of(answer)
    assert Document.objects.get(pk=draft.pk).number is None


def test_what_is_no_issued_invoice_or_has_nothing_left_is_not_corrected(desk, corrector, invoice):
    issue(make_correction(invoice))
    note = Document.objects.get(corrects=invoice)
    for document in (note, make_draft(user=corrector)):
        answer = desk.get(f"/documents/{document.id}/correct")
        assert answer["Location"] == f"/documents/{document.id}"
        assert "/correct" not in main_of(desk.get(f"/documents/{document.id}"))
    page = main_of(desk.get(f"/documents/{invoice.id}"))
    assert "Not credited yet: €0.00." in page
    assert "/correct" not in page


@pytest.mark.parametrize("missing", [Permission.MANAGE, Permission.FINALIZE])
def test_all_permissions_of_issuing_are_needed(sign_in, invoice, path, missing):
    draft = make_correction(invoice)
    browser = sign_in(make_staff(*(each for each in CORRECTOR if each != missing)))
    for page in (path, f"/documents/{draft.id}/change"):
        assert browser.get(page).status_code == browser.post(page, {}).status_code == 403
    assert "/correct" not in main_of(browser.get(f"/documents/{invoice.id}"))
    assert "/change" not in main_of(browser.get(f"/documents/{draft.id}"))


def test_who_does_not_see_the_customer_sees_and_corrects_nothing(sign_in, invoice, path):
    draft = make_correction(invoice)
    browser = sign_in(UserFactory.create(permissions=CORRECTOR))
    before = take_snapshot("invoices")
    copy = f"/documents/new?copy={invoice.id}"
    for page in (path, f"/documents/{draft.id}/change", copy):
        assert browser.get(page).status_code == 404
    form = fields_of(invoice, "1", "1") | {"correction_reason": "x", "issue_date": "2026-03-09"}
    assert browser.post(path, form).status_code == 404
    assert browser.post(f"/documents/{draft.id}/change", form).status_code == 404
    assert take_snapshot("invoices") == before


def test_an_invoice_is_copied_as_a_new_draft_of_today_which_is_saved_by_nobody_else(desk, invoice):
    Customer.objects.update(is_active=False)
    TaxRate.objects.update(is_active=False)
    path = f"/documents/new?copy={invoice.id}"
    assert f'href="{path}">Copy as new draft</a>' in text_of(desk.get(f"/documents/{invoice.id}"))
    before = take_snapshot("invoices")
    page = desk.get(path)
    form = read_form(page)
    assert "nothing is saved yet" in text_of(page)
    assert "(inactive)" in text_of(page)
    assert (form["issue_date"], form["due_date"]) == ("2026-03-09", "2026-03-23")
    assert (form["line-1-quantity"], form["line-1-unit_price"]) == ("3", "50.00")
    refused = desk.post("/documents/new", form)
    assert refused.status_code == 422
    assert take_snapshot("invoices") == before
    Customer.objects.update(is_active=True)
    TaxRate.objects.update(is_active=True)
    desk.post("/documents/new", form)
    copy = Document.objects.get(status="draft")
    assert (copy.grand_total, copy.lock_version) == (invoice.grand_total, 1)


def test_a_copy_is_due_at_once_where_as_many_days_would_leave_the_calendar(desk):
    invoice = make_issued(due_date=date.max)
    form = read_form(desk.get(f"/documents/new?copy={invoice.pk}"))
    assert form["issue_date"] == form["due_date"] == "2026-03-09"


@pytest.mark.parametrize("copied", ["draft", "nobody", "x"])
def test_only_an_issued_invoice_is_copied(desk, corrector, copied):
    pk = make_draft(user=corrector).pk if copied == "draft" else copied
    assert desk.get(f"/documents/new?copy={pk}").status_code == 404
