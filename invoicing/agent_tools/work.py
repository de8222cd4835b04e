"""What a connection made, for the owner: which documents and approvals, and their states."""

from collections.abc import Collection
from uuid import UUID

from django.urls import reverse

from agent_access.approvals.engine import read_approvals
from agent_access.approvals.models import ApprovalRequest
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.database.clock import read_clock
from agent_access.policy import Work
from invoicing.access import Permission
from invoicing.document_approvals import ISSUE
from invoicing.models import Document, DocumentType, User

# The most of each kind; the list of documents shows all.
WORK_SHOWN = 25


def find_work(connection_id: UUID, viewer: User) -> list[Work]:
    """Return the latest documents and approvals of the connection, the newest first.

    They are linked to the documents that the viewer may open.
    """
    documents = Document.objects.filter(connection_id=connection_id).order_by("-id")[:WORK_SHOWN]
    approvals = ApprovalRequest.objects.filter(kind=ISSUE, connection_id=connection_id)
    rows = approvals.order_by("-id")[:WORK_SHOWN]
    ids = {each.id for each in documents} | {each.target for each in rows}
    links = _find_links(ids, viewer)
    work = [_describe_document(each, links.get(each.id, "")) for each in documents]
    work += [
        _describe_approval(each, links.get(each.approval.target, ""))
        for each in read_approvals(rows, now=read_clock())
    ]
    return sorted(work, key=lambda each: each.made_at, reverse=True)


def address_of_work(connection_id: UUID, viewer: User) -> str:
    """Return the address of the page that lists all documents of the connection.

    It is empty if the viewer may not see documents.
    """
    may_open = viewer.has_perm(Permission.VIEW_DOCUMENT)
    return f"{reverse('documents')}?connection={connection_id}" if may_open else ""


def _find_links(document_ids: Collection[UUID], viewer: User) -> dict[UUID, str]:
    """Return the addresses of the documents that the viewer may open, by ID."""
    if not viewer.has_perm(Permission.VIEW_DOCUMENT):
        return {}
    visible = Document.objects.visible_to(viewer).filter(pk__in=document_ids)
    return {pk: reverse("document", args=[pk]) for pk in visible.values_list("pk", flat=True)}


def _describe_document(document: Document, href: str) -> Work:
    return Work(
        kind=str(DocumentType(document.type).label),
        label=str(document),
        state=document.get_status_display(),
        made_at=document.created_at,
        href=href,
    )


def _describe_approval(snapshot: ApprovalSnapshot, href: str) -> Work:
    approval = snapshot.approval
    return Work(
        kind="Issue approval",
        label=str(snapshot.target),
        state=snapshot.state.capitalize(),
        made_at=approval.prepared_at,
        href=href,  # of the document: the review page is the delegated person's alone
    )
