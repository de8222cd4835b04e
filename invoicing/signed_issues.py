"""What issuing a document is worth where issuing has to be signed, by an agent and by hand."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from functools import partial

from django.utils import timezone

from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.facts import canonical_json
from agent_access.signing import Act, Purpose
from invoicing.document_approvals import ISSUE
from invoicing.models import Document, User
from invoicing.models.documents import DocumentQuerySet
from invoicing.services.document_facts import Facts

# How long a person has who issues by hand, and how old their passkey must be.
WINDOW = timedelta(minutes=10)
# The acts of so long count together.
DAY = timedelta(hours=24)


def value_of(document: Document) -> tuple[str, Decimal]:
    """Return the currency and the absolute total, in units of the currency: a credit note's too."""
    return document.currency_code, _in_units(document.grand_total, document.minor_unit)


def sum_earlier(user: User, document: Document) -> Mapping[str, Decimal]:
    """Return, by currency, what else the person issued for the customer in the last 24 hours.

    By hand and by agents, and what they approved that can still be issued. The customer is locked
    where a decision depends on it, so that of two at once the second counts the first.
    """
    now = timezone.now()
    of_customer = Document.objects.filter(customer=document.customer_id).exclude(pk=document.pk)
    approved = (
        ApprovalRequest.objects.asked_of(user)
        .standing()
        .filter(kind=ISSUE, decision=Decision.APPROVED, expires_at__gt=now, executed_at=None)
    )
    totals: dict[str, Decimal] = {}
    for found in (
        of_customer.filter(issued_at__gt=now - DAY, issued_by=user),
        of_customer.filter(pk__in=list(approved.values_list("target", flat=True)), issued_at=None),
    ):
        for currency, total in _sum_by_currency(found):
            totals[currency] = totals.get(currency, Decimal(0)) + total
    return totals


def _sum_by_currency(documents: DocumentQuerySet) -> list[tuple[str, Decimal]]:
    groups = documents.add_up("currency_code", "minor_unit")
    return [
        (each["currency_code"], _in_units(each["amount"], each["minor_unit"])) for each in groups
    ]


def _in_units(amount: int, minor_unit: int) -> Decimal:
    return Decimal(abs(amount)).scaleb(-minor_unit)


def act_by_hand(user: User, draft: Document, facts: Facts) -> Act:
    """Return what the person decides who issues the draft with these facts by hand."""
    return Act(
        purpose=Purpose.DO,
        record_id=draft.pk,
        person=user,
        facts=canonical_json(facts),
        window=WINDOW,
        party=draft.customer_id,
        value=value_of(draft),
        earlier=partial(sum_earlier, user, draft),
    )
