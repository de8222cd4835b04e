"""A document is issued while its numbers are changed: either order leaves them unique, no gap."""

import pytest
from django.core.exceptions import ValidationError

from invoicing.administration.numbering import (
    WantedNumbering,
    change_numbering,
    digest_numbering,
)
from invoicing.errors import ConflictError
from invoicing.models import Document, DocumentType
from invoicing.number_formats import NumberStyle
from invoicing.services.issuing import issue_document
from invoicing.services.numbering import read_numbering
from tests.administration import acting
from tests.clocks import at
from tests.factories import ISSUED_AT, CustomerFactory, make_draft, make_staff
from tests.threads import in_threads

pytestmark = pytest.mark.django_db(transaction=True)

STYLES = {each: NumberStyle(each, has_year=True, digits=4) for each in ("INV-", "CN-")}
WANTED = WantedNumbering(STYLES["INV-"], 501)


@pytest.fixture
def drafts(company) -> list[Document]:
    user, customer = make_staff(), CustomerFactory.create()
    return [make_draft(user=user, customer=customer) for _ in range(8)]


@pytest.fixture
def change(owner):
    """A function that changes the numbers of invoices, as seen now, and tells what came of it."""
    seen = digest_numbering(read_numbering(2026), 2026)

    def change(wanted: WantedNumbering) -> str:
        other = {DocumentType.CREDIT_NOTE: WantedNumbering(STYLES["CN-"], None)}
        everything = {DocumentType.INVOICE: wanted} | other
        try:
            change_numbering(
                acting(owner), everything, year=2026, seen=seen, is_allowed=lambda _: True
            )
        except (ConflictError, ValidationError) as refusal:
            return type(refusal).__name__
        return "saved"

    return change


def issue(draft: Document) -> str:
    return str(issue_document(draft, clock=at(ISSUED_AT)).number)


def numbers() -> list[str]:
    issued = Document.objects.exclude(number=None)
    return sorted(str(document.number) for document in issued)


def test_eight_issues_and_a_change_at_once_leave_no_gap_and_give_nothing_twice(drafts, change):
    acts = [lambda: change(WANTED), *(lambda draft=draft: issue(draft) for draft in drafts)]
    outcome, *given = in_threads(lambda act: act(), acts)
    start = {"saved": 501, "ConflictError": 1}[outcome]
    assert sorted(given) == numbers() == [f"INV-2026-{start + n:04d}" for n in range(8)]
