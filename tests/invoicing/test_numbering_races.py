"""A document is issued while its numbers are changed: either order leaves them unique, no gap."""

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction

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
from tests.threads import Encounter, in_threads, run_together

pytestmark = pytest.mark.django_db(transaction=True)

STYLES = {each: NumberStyle(each, has_year=True, digits=4) for each in ("INV-", "CN-")}
CHANGES = [
    (WantedNumbering(STYLES["INV-"], 501), "INV-2026-0501"),
    # What is shown of numbers stays the same, but not the series.
    (WantedNumbering(NumberStyle("INV-2026-", has_year=False, digits=4), None), "INV-2026-0001"),
]


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


@pytest.mark.parametrize(("wanted", "_first"), CHANGES)
def test_a_change_waits_for_the_first_issue_and_is_refused(drafts, change, wanted, _first):
    encounter = Encounter()

    def issue_first() -> str:
        with transaction.atomic():
            number = issue(drafts[0])
            encounter.wait_here()
        return number

    told = run_together([issue_first, lambda: encounter.come(lambda: change(wanted))])
    assert told == ["INV-2026-0001", "ConflictError"]
    assert issue(drafts[1]) == "INV-2026-0002"


@pytest.mark.parametrize(("wanted", "first"), CHANGES)
def test_the_first_issue_waits_for_a_change_and_follows_it(drafts, change, wanted, first):
    encounter = Encounter()

    def change_first() -> str:
        with transaction.atomic():
            outcome: str = change(wanted)
            encounter.wait_here()
        return outcome

    told = run_together([change_first, lambda: encounter.come(lambda: issue(drafts[0]))])
    assert told == ["saved", first]


def test_eight_issues_and_a_change_at_once_leave_no_gap_and_give_nothing_twice(drafts, change):
    wanted, _ = CHANGES[0]
    acts = [lambda: change(wanted), *(lambda draft=draft: issue(draft) for draft in drafts)]
    outcome, *given = in_threads(lambda act: act(), acts)
    start = {"saved": 501, "ConflictError": 1}[outcome]
    assert sorted(given) == numbers() == [f"INV-2026-{start + n:04d}" for n in range(8)]
