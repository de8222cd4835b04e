"""The pages on which a person reads documents."""

from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from invoicing.access import ISSUE_PERMISSIONS, Permission
from invoicing.document_approvals import find_executed
from invoicing.identifiers import read_uuid
from invoicing.languages import APPLICATION_LANGUAGE
from invoicing.models import Document, DocumentStatus
from invoicing.paper.formats import Formats, format_instant
from invoicing.paper.layout import paper_of_document
from invoicing.rights import may_read_evidence
from invoicing.search.records import find_documents
from invoicing.services.corrections import is_correctable
from invoicing.services.document_facts import read_document
from invoicing.web.approvals import describe_decisions_on, describe_pending_of
from invoicing.web.corrections import describe_corrections
from invoicing.web.issuing import may_issue
from invoicing.web.listings import build_query, list_newest
from invoicing.web.originals import describe_files
from invoicing.web.pages import ALREADY, DONE, SignedInRequest, page

FILTERS = {"": "All", DocumentStatus.DRAFT: "Drafts", DocumentStatus.ISSUED: "Issued"}


@page(Permission.VIEW_DOCUMENT)
def list_documents(request: SignedInRequest) -> HttpResponse:
    status = request.GET.get("status", "")
    wanted = DocumentStatus(status) if status in DocumentStatus.values else None
    connection_id = read_uuid(request.GET.get("connection", ""))
    connection = str(connection_id or "")
    find = partial(find_documents, request.user, status=wanted, connection_id=connection_id)
    listing = list_newest(request, find, status=status, connection=connection)
    prefetch_related_objects(listing.records, "corrects")
    kept = {"search": listing.search, "connection": connection}
    context = {
        "listing": listing,
        "rows": [describe_row(document) for document in listing.records],
        "filters": [
            (build_query(status=value, **kept), label, value == status)
            for value, label in FILTERS.items()
        ],
        "status": status,
        "connection": connection,
        "may_create": request.user.has_perm(Permission.MANAGE),
    }
    return render(request, "invoicing/documents.html", context)


def describe_row(document: Document) -> dict[str, Any]:
    """Return what a row of a list says of a document."""
    formats = Formats(APPLICATION_LANGUAGE, document.currency_code, document.minor_unit)
    return {
        "document": document,
        "issue_date": formats.short_day(document.issue_date),
        "due_date": formats.short_day(document.due_date),
        "grand_total": formats.money(document.grand_total),
    }


@page(Permission.VIEW_DOCUMENT)
def show_document(request: SignedInRequest, pk: UUID) -> HttpResponse:
    document = Document.objects.visible_to(request.user).find(pk)
    may_edit = document.is_draft_invoice and request.user.has_perm(Permission.MANAGE)
    now = timezone.now()
    facts = read_document(document)
    context = {
        "document": document,
        "paper": paper_of_document(document, facts),
        "files": describe_files(request.user, document, facts),
        "created_at": format_instant(document.created_at, request.user),
        "updated_at": format_instant(document.updated_at, request.user),
        "issued_at": format_instant(document.issued_at, request.user),
        "approval": find_executed(document) if document.is_issued else None,
        "waiting": describe_pending_of(request.user, document, now=now),
        "decided": describe_decisions_on(request.user, document, now=now),
        "may_agents_issue": request.user.has_perms(ISSUE_PERMISSIONS),
        "is_done": DONE in request.GET,
        "is_already": ALREADY in request.GET,
        "may_edit": may_edit,
        "may_issue": may_issue(request.user, document),
        "may_copy": is_correctable(document) and request.user.has_perm(Permission.MANAGE),
        "has_evidence": document.is_issued and may_read_evidence(request.user),
        **describe_corrections(request.user, document),
    }
    return render(request, "invoicing/document.html", context)
