"""What the records are called that audit events and receipts name by their IDs."""

from collections.abc import Collection, Iterator
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from invoicing.access import Permission
from invoicing.models import Company, Customer, Document, IssueApproval, TaxRate, Team, User


def find_names(record_ids: Collection[UUID], viewer: User) -> dict[UUID, str]:
    """Return the names of the records with these IDs; an approval has that of its document.

    Customers have theirs for those alone who may see them. Numbers and codes tell nothing of what
    a document holds, so the owner knows them by whatever permissions.
    """
    names: dict[UUID, str] = {}
    missing = set(record_ids)
    for records in _named_records(viewer):
        if missing:
            found = {each.pk: _name(each) for each in records.filter(pk__in=missing)}
            names |= found
            missing -= found.keys()
    return names


def _named_records(viewer: User) -> Iterator[QuerySet[Any]]:
    """Yield what calls, decisions and acts of administration are about, that of most first."""
    yield Document.objects.only("number", "draft_code")
    asked = IssueApproval.objects.select_related("document")
    yield asked.only("document__number", "document__draft_code")
    if viewer.has_perm(Permission.VIEW_CUSTOMER):
        yield Customer.objects.visible_to(viewer).only("name")
    yield TaxRate.objects.all()
    yield Team.objects.only("name")
    yield Company.objects.only("name")


def find_ids(name: str) -> set[UUID]:
    """Return the IDs of the document with this number or draft code, and of its approvals."""
    code = name.upper()
    documents = Document.objects.filter(Q(number=code) | Q(draft_code=code)).values("pk")
    approvals = IssueApproval.objects.filter(document__in=documents).values("pk")
    return {each["pk"] for each in documents.union(approvals, all=True)}


def _name(record: Any) -> str:
    return str(record.document if isinstance(record, IssueApproval) else record)
