"""What the owner calls the records that audit events name by their IDs."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from invoicing.models import Company, Customer, Document, IssueApproval, TaxRate, Team

# What tool calls, decisions and acts of administration are about, that of most events first.
NAMED: tuple[QuerySet[Any], ...] = (
    Document.objects.only("number", "draft_code"),
    IssueApproval.objects.select_related("document").only(
        "document__number", "document__draft_code"
    ),
    Customer.objects.only("name"),
    TaxRate.objects.all(),
    Team.objects.only("name"),
    Company.objects.only("name"),
)


def find_names(record_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of the records with these IDs; an approval has that of its document."""
    names: dict[UUID, str] = {}
    missing = set(record_ids)
    for records in NAMED:
        if missing:
            found = {each.pk: _name(each) for each in records.filter(pk__in=missing)}
            names |= found
            missing -= found.keys()
    return names


def find_ids(name: str) -> set[UUID]:
    """Return the IDs of the document with this number or draft code, and of its approvals."""
    code = name.upper()
    documents = Document.objects.filter(Q(number=code) | Q(draft_code=code)).values("pk")
    approvals = IssueApproval.objects.filter(document__in=documents).values("pk")
    return {each["pk"] for each in documents.union(approvals, all=True)}


def _name(record: Any) -> str:
    return str(record.document if isinstance(record, IssueApproval) else record)
