"""The page on which a person reads a document."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render

from agent_access.database.clock import read_clock
from invoicing.access import ISSUE_PERMISSIONS, Permission
from invoicing.document_approvals import find_executed
from invoicing.models import Document
from invoicing.paper.formats import format_instant
from invoicing.paper.layout import paper_of_document
from invoicing.rights import may_read_evidence
from invoicing.services.corrections import is_correctable
from invoicing.services.document_facts import read_document
from invoicing.web.approvals import (
    describe_decisions_on,
    describe_history_of,
    describe_pending_of,
)
from invoicing.web.corrections import describe_corrections
from invoicing.web.drafts.kept import kept_of
from invoicing.web.issuing import may_issue
from invoicing.web.originals import describe_files
from invoicing.web.pages import ALREADY, DONE, SignedInRequest, page


@page(Permission.VIEW_DOCUMENT)
def show_document(request: SignedInRequest, pk: UUID) -> HttpResponse:
    document = Document.objects.visible_to(request.user).find(pk)
    may_edit = document.is_draft_invoice and request.user.has_perm(Permission.MANAGE)
    now = read_clock()
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
        "history": describe_history_of(request.user, document, now=now),
        "is_done": DONE in request.GET,
        # What the browser kept of it while it was typed, and may forget now.
        "kept_until_now": kept_of(request.user, document.draft_code).name
        if DONE in request.GET
        else "",
        "is_already": ALREADY in request.GET,
        "may_edit": may_edit,
        "may_issue": may_issue(request.user, document),
        "may_copy": is_correctable(document) and request.user.has_perm(Permission.MANAGE),
        "has_evidence": document.is_issued and may_read_evidence(request.user),
        **describe_corrections(request.user, document),
    }
    return render(request, "invoicing/document.html", context)
