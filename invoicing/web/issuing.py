"""The page on which a person issues a document without an agent."""

from http import HTTPStatus
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from agent_access import signing
from agent_access.facts import fingerprint_facts
from agent_access.signing import SignatureRefusedError
from invoicing.access import ISSUE_PERMISSIONS
from invoicing.decisions import issue_by_hand
from invoicing.document_approvals import find_executed
from invoicing.errors import ConflictError
from invoicing.models import Document, DocumentType, User
from invoicing.paper.layout import lay_out
from invoicing.services.document_facts import read_document
from invoicing.services.issuing import require_issuable
from invoicing.signed_issues import act_by_hand
from invoicing.visits import web_origin
from invoicing.web.issue_warnings import render_warnings
from invoicing.web.pages import ALREADY, SignedInRequest, page, show_done
from invoicing.web.print_warnings import render_print_warnings


def may_issue(user: User, document: Document) -> bool:
    """Return whether this person may issue this document."""
    return not document.is_issued and user.has_perms(ISSUE_PERMISSIONS)


@page(*ISSUE_PERMISSIONS, methods=("GET", "POST"))
def issue(request: SignedInRequest, pk: UUID) -> HttpResponse:
    if request.method != "POST":
        return _show(request, Document.objects.visible_to(request.user).find(pk))
    fingerprint = request.POST.get("fingerprint", "")
    proof = signing.make_proof(request, request.POST.get("assertion", ""))
    try:
        issue_by_hand(request.user, pk, fingerprint=fingerprint, origin=web_origin(), proof=proof)
    except ConflictError:
        return _answer_conflict(request, Document.objects.visible_to(request.user).find(pk))
    except SignatureRefusedError as refusal:
        document = Document.objects.visible_to(request.user).find(pk)
        return _show(request, document, refusal=refusal)
    return show_done(pk)


@page(*ISSUE_PERMISSIONS, methods=("GET", "POST"))
def give_options(request: SignedInRequest, pk: UUID) -> HttpResponse:
    """Give the page's script what a browser needs to sign that the document is issued."""
    if request.method != "POST":
        return redirect("issue", pk=pk)
    document = Document.objects.visible_to(request.user).find(pk)
    if document.is_issued:
        raise PermissionDenied
    act = act_by_hand(request.user, document, read_document(document))
    return JsonResponse({"publicKey": signing.make_options(act, request)})


def _answer_conflict(request: SignedInRequest, document: Document) -> HttpResponse:
    if not document.is_issued:
        return _show(request, document, has_changed=True)
    if document.issued_by_id == request.user.pk and find_executed(document) is None:
        return show_done(document.pk)  # a double click
    return redirect(f"{reverse('document', args=[document.pk])}?{ALREADY}")


def _show(
    request: SignedInRequest,
    document: Document,
    *,
    has_changed: bool = False,
    refusal: SignatureRefusedError | None = None,
) -> HttpResponse:
    """Show what would be issued; GET never issues."""
    if document.is_issued:
        return redirect("document", pk=document.pk)
    # Read once, so that the fingerprint in the form is of the facts that the page shows.
    facts = read_document(document)
    address = settings.BASE_URL + reverse("issue", args=[document.pk])
    context = {
        "document": document,
        "signature": signing.ask(act_by_hand(request.user, document, facts), request, address),
        "not_signed": refusal.reason if refusal else "",
        "paper": lay_out(facts, document_type=DocumentType(document.type)),
        "fingerprint": fingerprint_facts(facts),
        "has_changed": has_changed,
        "can_be_issued": _can_be_issued(document),
        "warnings": [
            render_warnings(request.user, document, facts, now=timezone.now()),
            render_print_warnings(document, facts),
        ],
    }
    status = HTTPStatus.CONFLICT if has_changed else HTTPStatus.OK
    status = refusal.status if refusal else status
    return render(request, "invoicing/issue.html", context, status=status)


def _can_be_issued(document: Document) -> bool:
    try:
        require_issuable(document)
    except ConflictError:
        return False
    return True
