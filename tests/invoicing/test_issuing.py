from datetime import UTC, date, datetime

import pytest
from django.db import transaction

from agent_access.approvals.engine import lock_approval
from invoicing.errors import ConflictError, RecordNotFoundError
from invoicing.locks import lock_draft
from invoicing.models import Company, Customer, Document, DocumentType, Line, NumberSeries, TaxRate
from invoicing.services import issuing
from invoicing.services.document_facts import read_facts
from invoicing.services.drafts import update_draft
from invoicing.services.issuing import issue_document, issue_locked
from invoicing.services.numbering import next_number
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CompanyFactory,
    CustomerFactory,
    TaxRateFactory,
    draft_input,
    line_input,
    make_draft,
    make_issued,
    make_staff,
)
from tests.snapshots import take_snapshot


def refuse_to_issue(document) -> None:
    before = take_snapshot()
    with pytest.raises(ConflictError):
        issue_document(document, clock=at(ISSUED_AT))
    assert take_snapshot() == before


@pytest.fixture
def draft(db) -> Document:
    CompanyFactory.create()
    rate = TaxRateFactory.create()
    return make_draft(lines=(line_input(tax_rate_id=rate.id), line_input()))


@pytest.mark.requirement("document.frozen")
def test_issuing_gives_a_number_and_freezes(draft) -> None:
    answer = issue_document(draft, clock=at(ISSUED_AT))
    saved = Document.objects.get()
    for document in (answer, saved):
        assert (document.status, document.number) == ("issued", "INV-2026-0001")
        assert (document.series_value, document.lock_version) == (1, 2)
        assert (document.issued_at, document.issued_by) == (ISSUED_AT, draft.created_by)
        assert document.seller_name == "Halden Works"
        assert document.seller_address == "Harbour Street 1\n20457 Hamburg\nGermany"
        assert document.seller_vat_number == "DE136695976"
        assert document.seller_iban == "DE02120300000000202051"
        assert document.seller_bic == "BYLADEM1001"
        assert document.buyer_name == draft.customer.name
        assert document.buyer_address == "Mill Lane 7\n1011 AB Amsterdam\nNetherlands"
        assert document.buyer_vat_number == "NL004495445B01"
    assert saved.draft_code == draft.draft_code
    assert (saved.net_total, saved.tax_total, saved.grand_total) == (20_000, 1_900, 21_900)
    assert str(saved) == "INV-2026-0001"
    assert str(draft) == draft.draft_code


@pytest.mark.django_db
def test_each_type_and_year_counts_for_itself() -> None:
    numbers = [
        make_issued(issue_date=issue_date, due_date=issue_date, document_type=document_type).number
        for document_type, issue_date in [
            (DocumentType.INVOICE, date(2026, 12, 31)),
            (DocumentType.INVOICE, date(2027, 1, 1)),
            (DocumentType.INVOICE, date(2026, 1, 1)),
            (DocumentType.CREDIT_NOTE, date(2026, 1, 1)),
        ]
    ]
    assert numbers == ["INV-2026-0001", "INV-2027-0001", "INV-2026-0002", "CN-2026-0001"]


@pytest.mark.django_db
def test_a_number_has_at_least_four_digits() -> None:
    NumberSeries.objects.create(type="invoice", year=2026, last_value=9_998)
    assert [make_issued().number for _ in range(2)] == ["INV-2026-9999", "INV-2026-10000"]


def test_a_number_given_in_a_transaction_that_fails_is_given_again(draft) -> None:
    with transaction.atomic():
        issue_document(draft, clock=at(ISSUED_AT))
        transaction.set_rollback(True)
    assert Document.objects.get().number is None
    assert issue_document(draft, clock=at(ISSUED_AT)).number == "INV-2026-0001"


def test_a_document_is_issued_once(draft) -> None:
    issue_document(draft, clock=at(ISSUED_AT))
    refuse_to_issue(draft)
    refuse_to_issue(Document.objects.get())


def edit(draft: Document) -> None:
    update_draft(make_staff(), draft.pk, draft_input(draft.customer), lock_version=1)


@pytest.mark.parametrize(
    "change",
    [
        edit,
        lambda _: Customer.objects.update(is_active=False),
        lambda _: TaxRate.objects.update(is_active=False),
        lambda _: TaxRate.objects.update(name="Another"),
        lambda _: TaxRate.objects.update(percentage_ten_thousandths=200_000),
        lambda _: Line.objects.filter(tax_rate=None).update(unit_price=4_000),
    ],
    ids=["the draft", "its customer", "its rate", "a rate's name", "a percentage", "a price"],
)
def test_a_draft_that_no_longer_agrees_with_what_was_read_is_not_issued(draft, change) -> None:
    change(draft)
    refuse_to_issue(draft)


def test_a_draft_that_is_gone_is_not_found(draft) -> None:
    Document.objects.all().delete()
    with pytest.raises(RecordNotFoundError):
        issue_document(draft, clock=at(ISSUED_AT))
    assert NumberSeries.objects.count() == 0


def test_where_a_lock_fails_the_conditional_update_still_refuses(draft, monkeypatch) -> None:
    """SQLite ignores row locks, so the update itself has to see that a row has moved on."""
    stale_draft = Document.objects.select_related("customer").get()
    Document.objects.update(lock_version=2)
    monkeypatch.setattr(issuing, "lock_draft", lambda *_, **__: stale_draft)
    refuse_to_issue(draft)


def test_where_a_lock_fails_an_issued_document_is_not_issued_again(draft, monkeypatch) -> None:
    stale_draft = Document.objects.select_related("customer").get()
    stale_draft.lock_version = issue_document(draft, clock=at(ISSUED_AT)).lock_version
    monkeypatch.setattr(issuing, "lock_draft", lambda *_, **__: stale_draft)
    refuse_to_issue(stale_draft)


@pytest.mark.django_db
def test_without_a_company_nothing_is_issued() -> None:
    document = make_draft(customer=CustomerFactory.create())
    before = take_snapshot()
    with pytest.raises(Company.DoesNotExist):
        issue_document(document, clock=at(datetime(2026, 3, 2, tzinfo=UTC)))
    assert take_snapshot() == before


@pytest.mark.django_db(transaction=True)
def test_locks_and_numbers_are_taken_inside_a_transaction_only() -> None:
    document = make_draft()
    CompanyFactory.create()
    [facts] = read_facts([document])
    for take in (
        lambda: next_number(DocumentType.INVOICE, 2026),
        lambda: lock_draft(document.pk, visible_to=None),
        lambda: lock_approval(document.pk, seen_by=None),
        lambda: issue_locked(
            document, facts, issued_by_id=document.created_by_id, clock=at(ISSUED_AT)
        ),
    ):
        with pytest.raises(RuntimeError, match="inside a transaction"):
            take()
    assert NumberSeries.objects.count() == 0
