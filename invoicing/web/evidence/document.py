"""The evidence of one issued document: its paper, its files, and how it came to be."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render

from invoicing.administration.acts import actor_of
from invoicing.administration.downloads import record_opening
from invoicing.evidence.checks import check, is_whole
from invoicing.evidence.history import read_history
from invoicing.models import Document, DocumentStatus, Original, User
from invoicing.paper.formats import format_instant
from invoicing.paper.layout import paper_of_document
from invoicing.services.document_facts import read_document
from invoicing.web.evidence.guard import evidence_page
from invoicing.web.evidence.words import describe_step
from invoicing.web.pages import SignedInRequest


def issued_documents() -> Any:
    """Return the documents of which there is evidence: those of all customers that were issued."""
    return Document.objects.filter(status=DocumentStatus.ISSUED)


@evidence_page
def show_evidence(request: SignedInRequest, pk: UUID) -> HttpResponse:
    """Show all of it; that somebody looked is written to the audit."""
    document: Document = issued_documents().find(pk)
    history = read_history(document)
    context = {
        "document": document,
        "paper": paper_of_document(document, read_document(document)),
        "issued_at": format_instant(document.issued_at, request.user),
        "history": history,
        "steps": [describe_step(step, request.user) for step in history.steps],
        "checks": check(document, history),
        "originals": [_describe_original(each, request.user) for each in _originals_of(document)],
        "corrections": document.corrections.filter(status=DocumentStatus.ISSUED).order_by("pk"),
        "has_documents": not request.user.is_auditor,
    }
    if request.method == "GET":
        record_opening(actor_of(request), document)
    return render(request, "invoicing/evidence.html", context)


def _originals_of(document: Document) -> list[Original]:
    return list(document.originals.order_by("made_at", "pk"))


def _describe_original(original: Original, reader: User) -> dict[str, Any]:
    return {
        "kind": original.kind,
        "name": original.get_kind_display(),
        "digest": original.digest,
        "size": len(original.content),
        "made_at": format_instant(original.made_at, reader),
        "is_whole": is_whole(original),
    }
