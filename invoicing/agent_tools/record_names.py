"""What the records are called that audit events and receipts name by their IDs."""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from agent_access.approvals.models import ApprovalRequest
from invoicing.access import Permission
from invoicing.document_approvals import ISSUE
from invoicing.models import Company, Customer, Document, TaxRate, Team, User


def find_names(record_ids: Collection[UUID], viewer: User) -> dict[UUID, str]:
    """Return the names of the records with these IDs; an approval has that of its document.

    Customers have theirs for those alone who may see them. Numbers and codes tell nothing of what
    a document holds, so the owner knows them by whatever permissions.
    """
    names: dict[UUID, str] = {}
    missing = set(record_ids)
    for find in _finders(viewer):
        if missing:
            found = find(missing)
            names |= found
            missing -= found.keys()
    return names


def _finders(viewer: User) -> Iterator[Callable[[Collection[UUID]], dict[UUID, str]]]:
    """Yield what finds names, beginning with what calls and decisions are about most often."""
    yield partial(_find, Document.objects.only("number", "draft_code"))
    yield _find_approvals
    if viewer.has_perm(Permission.VIEW_CUSTOMER):
        yield partial(_find, Customer.objects.visible_to(viewer).only("name"))
    yield partial(_find, TaxRate.objects.all())
    yield partial(_find, Team.objects.only("name"))
    yield partial(_find, Company.objects.only("name"))


def _find(records: QuerySet[Any], pks: Collection[UUID]) -> dict[UUID, str]:
    return {each.pk: str(each) for each in records.filter(pk__in=pks)}


def _find_approvals(pks: Collection[UUID]) -> dict[UUID, str]:
    asked = ApprovalRequest.objects.filter(kind=ISSUE, pk__in=pks)
    targets = dict(asked.values_list("pk", "target"))
    names = _find(Document.objects.only("number", "draft_code"), targets.values())
    return {pk: names[target] for pk, target in targets.items()}


def find_ids(name: str) -> set[UUID]:
    """Return the IDs of the document with this number or draft code, and of its approvals."""
    code = name.upper()
    documents = Document.objects.filter(Q(number=code) | Q(draft_code=code)).values("pk")
    approvals = ApprovalRequest.objects.filter(kind=ISSUE, target__in=documents).values("pk")
    return {each["pk"] for each in documents.union(approvals, all=True)}


def find_customers(name: str, viewer: User) -> set[UUID]:
    """Return the IDs of the customers with exactly this name whom the viewer may see."""
    if not viewer.has_perm(Permission.VIEW_CUSTOMER):
        return set()
    return set(Customer.objects.visible_to(viewer).filter(name=name).values_list("pk", flat=True))
