"""What a connection made, for the owner: which documents and approvals, and their states."""

from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from agent_access.host import Work
from invoicing.models import Document, DocumentType, IssueApproval
from invoicing.services.approvals import ApprovalSnapshot, read_approvals

# The most of each kind; the list of documents shows all.
WORK_SHOWN = 25


def find_work(connection_id: UUID) -> list[Work]:
    """Return the latest documents and approvals of the connection, the newest first."""
    documents = Document.objects.filter(connection_id=connection_id).order_by("-id")
    approvals = IssueApproval.objects.filter(connection_id=connection_id).order_by("-id")
    rows = approvals.select_related("document__customer")[:WORK_SHOWN]
    work = [_describe_document(each) for each in documents[:WORK_SHOWN]]
    work += [_describe_approval(each) for each in read_approvals(rows, now=timezone.now())]
    return sorted(work, key=lambda each: each.made_at, reverse=True)


def address_of_work(connection_id: UUID) -> str:
    """Return the address of the page that lists all documents of the connection."""
    return f"{reverse('documents')}?connection={connection_id}"


def _describe_document(document: Document) -> Work:
    return Work(
        kind=DocumentType(document.type).label,
        label=str(document),
        state=document.get_status_display(),
        made_at=document.created_at,
        href=reverse("document", args=[document.id]),
    )


def _describe_approval(snapshot: ApprovalSnapshot) -> Work:
    approval = snapshot.approval
    return Work(
        kind="Issue approval",
        label=str(approval.document),
        state=snapshot.state.capitalize(),
        made_at=approval.prepared_at,
        # The review page is the delegated person's alone.
        href=reverse("document", args=[approval.document_id]),
    )
