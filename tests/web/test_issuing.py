"""Issuing by hand: who may, for exactly what was shown, once."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from django.db import connection as database

from invoicing import decisions
from invoicing.access import Permission
from invoicing.decisions import issue_by_hand
from invoicing.errors import PermissionMissingError, RecordNotFoundError
from invoicing.models import (
    Company,
    Customer,
    Document,
    DocumentStatus,
    DocumentType,
    TaxRate,
    User,
)
from invoicing.services.document_facts import Facts, read_facts
from invoicing.services.drafts import update_draft
from tests.administration import ORIGIN
from tests.approvals import fingerprint_draft, prepare
from tests.factories import (
    TaxRateFactory,
    draft_input,
    line_input,
    make_draft,
    make_issued,
    make_staff,
    withdraw,
)
from tests.web.forms import main_of, read_form, text_of

ISSUER = (Permission.VIEW_DOCUMENT, Permission.MANAGE, Permission.FINALIZE)


@pytest.fixture
def browser(company, sign_in):
    return sign_in(make_staff(*ISSUER))


@pytest.fixture
def draft(customer):
    rate = TaxRateFactory.create(name="VAT")
    return make_draft(customer=customer, lines=(line_input(tax_rate_id=rate.id),))


@pytest.fixture
def path(draft) -> str:
    return f"/documents/{draft.id}/issue"


def test_a_person_issues_what_was_shown(browser, draft, path):
    page = browser.get(path)
    assert page.status_code == 200
    assert "It cannot be undone." in text_of(page)
    assert Document.objects.get().status == DocumentStatus.DRAFT
    answer = browser.post(path, read_form(page))
    assert (answer.status_code, answer["Location"]) == (302, f"/documents/{draft.id}?done")
    told = "It is issued. Nothing was sent: to send it, download its files below."
    assert told in text_of(browser.get(answer["Location"]))
    assert told not in text_of(browser.get(f"/documents/{draft.id}"))
    issued = Document.objects.get()
    assert (issued.number, issued.lock_version) == ("INV-2026-0001", 2)
    assert issued.buyer_name == "Acme Ltd"


def test_what_the_invoice_lacks_is_told_and_forbids_nothing(browser, path):
    Company.objects.update(street="", postcode="", city="", country="")
    page = browser.get(path)
    assert "The street of your company is missing." in text_of(page)
    browser.post(path, read_form(page))
    assert Document.objects.get().seller_address == ""


def test_a_character_that_no_font_has_is_told_before(browser, path):
    told = "With them there will be no PDF."
    assert told not in text_of(browser.get(path))
    draft = make_draft(reference="Thanks \N{RECEIPT}")
    missing = "No installed font has these characters: \N{RECEIPT} (U+1F9FE)."
    assert f"{missing} {told}" in text_of(browser.get(f"/documents/{draft.id}/issue"))


def test_a_warning_leads_whoever_may_change_it_to_the_record(browser, sign_in, draft, path):
    """Once for each record, behind what is to be checked of it."""
    Company.objects.update(street="", iban="", is_small_business=True)
    Customer.objects.update(vat_number="NL1")
    links = [
        f"/admin/invoices/company/{Company.objects.get().pk}/change/",
        f"/admin/invoices/customer/{draft.customer_id}/change/",
        "/admin/invoices/taxrate/",
        f"/documents/{draft.id}/edit",
    ]
    administrator = sign_in(make_staff(*ISSUER, is_staff=True, is_superuser=True))
    for desk, shown in ((browser, links[3:]), (administrator, links)):
        notice = re.search(r'<ul class="points">.*?</ul>', text_of(desk.get(path)))
        assert notice is not None
        assert re.findall(r'href="([^"]+)"', notice[0]) == shown


@pytest.mark.parametrize("document_type", DocumentType)
def test_an_issue_out_of_the_order_of_dates_is_warned_of_and_not_forbidden(browser, document_type):
    """Each type and year has its own order."""
    warning = "The last document of this series has a later issue date: March 5, 2026."
    make_issued(document_type=document_type, issue_date=date(2026, 3, 5))
    for other in DocumentType:
        if other != document_type:
            make_issued(document_type=other, issue_date=date(2026, 3, 20))
    make_issued(document_type=document_type, issue_date=date(2027, 1, 5), due_date=date(2027, 2, 5))
    days = 4, 5, 6
    drafts = [
        make_draft(document_type=document_type, issue_date=date(2026, 3, day)) for day in days
    ]
    pages = [browser.get(f"/documents/{draft.id}/issue") for draft in drafts]
    assert [warning in text_of(page) for page in pages] == [True, False, False]
    assert "has a later issue date" not in text_of(pages[1]) + text_of(pages[2])
    browser.post(f"/documents/{drafts[0].id}/issue", read_form(pages[0]))
    assert str(Document.objects.get(pk=drafts[0].pk).number).endswith("2026-0002")


def test_a_credit_note_is_issued_by_hand_too(browser):
    note = make_draft(document_type=DocumentType.CREDIT_NOTE)
    path = f"/documents/{note.id}/issue"
    browser.post(path, read_form(browser.get(path)))
    assert Document.objects.get().number == "CN-2026-0001"


def test_issuing_twice_gives_one_number(browser, draft, path):
    form = read_form(browser.get(path))
    first, second = [browser.post(path, form)["Location"] for _ in range(2)]
    issued = Document.objects.get()
    assert (issued.number, issued.lock_version) == ("INV-2026-0001", 2)
    assert first == second == f"/documents/{draft.id}?done"
    assert browser.get(path)["Location"] == f"/documents/{draft.id}"


@pytest.mark.parametrize("way", ["colleague", "agent"])
def test_who_presses_the_button_after_somebody_else_issued_it_is_told(
    company, sign_in, customer, way
):
    person = make_staff(*ISSUER)
    draft = make_draft(user=person, customer=customer)
    browser, path = sign_in(person), f"/documents/{draft.id}/issue"
    form = read_form(browser.get(path))
    if way == "agent":
        prepared = prepare(draft, user=person)
        prepared.decide()
        prepared.execute()
    else:
        colleague = sign_in(make_staff(*ISSUER))
        colleague.post(path, read_form(colleague.get(path)))
    answer = browser.post(path, form)
    assert answer["Location"] == f"/documents/{draft.id}?already"
    page = text_of(browser.get(answer["Location"]))
    assert "It had been issued before you pressed the button. Nothing was issued just now." in page
    assert Document.objects.get().lock_version == 2


def _update(draft: Document) -> None:
    update_draft(draft.created_by, draft.pk, draft_input(draft.customer), lock_version=1)


@pytest.mark.parametrize(
    "change",
    [
        lambda: _update(Document.objects.get()),
        lambda: Customer.objects.update(street="Elsewhere 2"),
        lambda: Customer.objects.update(is_active=False),
        lambda: Company.objects.update(name="Sold"),
        lambda: TaxRate.objects.update(is_active=False),
        lambda: TaxRate.objects.update(percentage_ten_thousandths=1),
    ],
    ids=["draft", "address", "inactive customer", "seller", "inactive rate", "rate"],
)
def test_what_changed_after_it_was_shown_is_not_issued(browser, path, change):
    form = read_form(browser.get(path))
    change()
    answer = browser.post(path, form)
    assert answer.status_code == 409
    assert "Nothing was issued" in text_of(answer)
    assert Document.objects.get().status == DocumentStatus.DRAFT


@pytest.mark.parametrize(
    "change",
    [
        lambda: Company.objects.update(name="Sold in between"),
        lambda: TaxRate.objects.update(is_active=False),
    ],
    ids=["seller", "rate"],
)
def test_what_changes_while_it_is_being_issued_is_not_issued(browser, path, monkeypatch, change):
    def read_and_change(documents: Sequence[Document]) -> list[Facts]:
        facts = read_facts(documents)
        change()
        return facts

    form = read_form(browser.get(path))
    monkeypatch.setattr(decisions, "read_facts", read_and_change)
    answer = browser.post(path, form)
    assert answer.status_code == 409
    assert "Nothing was issued" in text_of(answer)
    assert Document.objects.get().status == DocumentStatus.DRAFT


def test_a_seller_who_changes_while_the_page_is_made_is_not_issued_unseen(browser, draft):
    path, shown = f"/documents/{draft.id}/issue", Company.objects.get().name
    sales: list[int] = []

    def sell_once_read(run: Any, sql: str, *rest: Any) -> Any:
        result = run(sql, *rest)
        if '"invoices_company"."name"' in sql and not sales:
            sales.append(1)
            Company.objects.update(name="Sold in between")
        return result

    with database.execute_wrapper(sell_once_read):
        page = browser.get(path)
    assert shown in main_of(page)
    assert browser.post(path, read_form(page)).status_code == 409
    assert Document.objects.get().status == DocumentStatus.DRAFT


@pytest.mark.parametrize("fingerprint", ["", "x", "é"])
def test_a_form_without_the_right_fingerprint_issues_nothing(browser, draft, fingerprint):
    answer = browser.post(f"/documents/{draft.id}/issue", {"fingerprint": fingerprint})
    assert answer.status_code == 409
    assert Document.objects.get().status == DocumentStatus.DRAFT


def test_a_draft_that_cannot_be_issued_says_so_and_offers_no_button(browser, draft):
    TaxRate.objects.update(is_active=False)
    page = main_of(browser.get(f"/documents/{draft.id}/issue"))
    assert "cannot be issued as it is" in page
    assert "Edit it first." in page
    assert "Issue now" not in page


def test_of_a_credit_note_that_cannot_be_issued_no_page_says_to_edit_it(browser, customer):
    draft = make_draft(customer=customer, document_type=DocumentType.CREDIT_NOTE)
    Customer.objects.update(is_active=False)
    page = main_of(browser.get(f"/documents/{draft.id}/issue"))
    assert "A credit note cannot be edited: an administrator can make its customer" in page
    assert "Edit it first." not in page
    assert "/edit" not in page


@pytest.mark.parametrize("missing", [Permission.MANAGE, Permission.FINALIZE])
def test_both_permissions_are_needed(company, sign_in, draft, missing):
    person = make_staff(*(each for each in ISSUER if each != missing))
    browser, path = sign_in(person), f"/documents/{draft.id}/issue"
    form = {"fingerprint": fingerprint_draft(draft)}
    assert browser.get(path).status_code == browser.post(path, form).status_code == 403
    assert "/issue" not in main_of(browser.get(f"/documents/{draft.id}"))
    with pytest.raises(PermissionMissingError):
        issue_by_hand(person, draft.pk, origin=ORIGIN, fingerprint=form["fingerprint"])
    assert Document.objects.get().status == DocumentStatus.DRAFT


@pytest.mark.parametrize(
    ("take_away", "error"),
    [
        (lambda person: withdraw(person, Permission.VIEW_ALL_CUSTOMERS), RecordNotFoundError),
        (lambda person: withdraw(person, Permission.VIEW_DOCUMENT), PermissionMissingError),
        (
            lambda person: User.objects.filter(pk=person.pk).update(is_active=False),
            PermissionMissingError,
        ),
        (
            lambda person: User.objects.filter(pk=person.pk).update(session_revision=7),
            PermissionMissingError,
        ),
    ],
    ids=["reach", "reading", "active", "sessions"],
)
def test_what_was_withdrawn_while_the_draft_was_waited_for_is_not_used(
    delegate, draft, take_away, error
):
    known = User.objects.get(pk=delegate.pk)
    assert known.has_perms(ISSUER)
    take_away(User.objects.get(pk=delegate.pk))
    with pytest.raises(error):
        issue_by_hand(known, draft.pk, origin=ORIGIN, fingerprint=fingerprint_draft(draft))
    assert Document.objects.get().status == DocumentStatus.DRAFT


def test_a_document_out_of_scope_cannot_be_issued(company, sign_in, stranger, draft):
    form = {"fingerprint": fingerprint_draft(draft)}
    answer = sign_in(stranger).post(f"/documents/{draft.id}/issue", form)
    assert answer.status_code == 404
    assert Document.objects.get().status == DocumentStatus.DRAFT


def test_an_issued_document_offers_neither_form(browser):
    page = main_of(browser.get(f"/documents/{make_issued().id}"))
    assert "/issue" not in page
    assert "/edit" not in page


@pytest.mark.parametrize(
    ("kind", "words"),
    [(DocumentType.INVOICE, "An invoice"), (DocumentType.CREDIT_NOTE, "A credit note")],
)
def test_the_page_asks_to_look_twice(browser, customer, time_machine, kind, words):
    time_machine.move_to("2026-03-20T09:00:00+00:00")
    issued = make_issued(customer=customer, document_type=kind)
    draft = make_draft(customer=customer, document_type=kind)
    User.objects.update(time_zone="Nowhere/Land")
    browser.force_login(make_staff(*ISSUER))
    page = main_of(browser.get(f"/documents/{draft.id}/issue"))
    assert f"{words} with the same total was issued to this customer on March 2, 2026" in page
    assert f'<a href="/documents/{issued.id}">{issued.number}</a>' in page
