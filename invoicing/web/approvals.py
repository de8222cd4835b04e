"""The inbox of approvals, and the review page on which a person decides."""

from datetime import datetime
from http import HTTPStatus
from uuid import UUID

from django import forms
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from agent_access.texts import ControlCharacterError, normalise_text
from invoicing.approval_inbox import InboxPage, find_waiting, read_others, read_pending
from invoicing.approval_states import ApprovalState
from invoicing.decisions import decide_approval
from invoicing.errors import (
    ApprovalStateError,
    ConnectionEndedError,
    InvoicingError,
    PermissionMissingError,
)
from invoicing.identifiers import read_uuid
from invoicing.models import Decision, IssueApproval, User
from invoicing.models.approvals import DIGEST_LENGTH, REJECTION_REASON_LENGTH
from invoicing.services.approvals import ApprovalSnapshot, read_approval
from invoicing.visits import mark_as_polling, web_origin
from invoicing.web.approval_texts import Told, describe_entries, describe_hidden, describe_review
from invoicing.web.pages import SignedInRequest, page

# The values of the buttons of the form, which scripts rely on.
DECISIONS = {"approve": Decision.APPROVED, "reject": Decision.REJECTED}
REFUSALS = {HTTPStatus.CONFLICT, HTTPStatus.FORBIDDEN}


class DecisionForm(forms.Form):
    """A decision, the fingerprint of what was shown, and the reason of a rejection."""

    decision = forms.ChoiceField(choices=[(word, word) for word in DECISIONS])
    fingerprint = forms.CharField(max_length=DIGEST_LENGTH, required=False)
    reason = forms.CharField(required=False, strip=False)

    def clean_reason(self) -> str:
        """Return the normalised reason; its length counts after that."""
        try:
            reason = normalise_text(self.cleaned_data["reason"], multiline=True)
        except ControlCharacterError:
            raise forms.ValidationError("It holds a character that nobody can read.") from None
        if len(reason) > REJECTION_REASON_LENGTH:
            raise forms.ValidationError(
                f"It can have at most {REJECTION_REASON_LENGTH} characters; this has {len(reason)}."
            )
        return reason


@page()
def list_approvals(request: SignedInRequest) -> HttpResponse:
    """Show the pending approvals and the others; a further page goes on with one of the lists."""
    user, now = request.user, timezone.now()
    after, before = (read_uuid(request.GET.get(name, "")) for name in ("after", "before"))
    nothing: InboxPage = [], None
    waiting, next_waiting = read_pending(user, after=after, now=now) if before is None else nothing
    others, next_others = read_others(user, before=before, now=now) if after is None else nothing
    context = {
        "waiting": describe_entries(waiting, user),
        "others": describe_entries(others, user),
        "is_first_page": after is None and before is None,
        "next_waiting": next_waiting,
        "next_others": next_others,
    }
    return render(request, "invoicing/approvals.html", context)


@page()
def show_waiting_count(request: SignedInRequest) -> HttpResponse:
    """Tell asking.js, on every page, what waits now: a request lasts only ten minutes."""
    mark_as_polling()
    waiting = find_waiting(request.user)
    return JsonResponse({"count": waiting.count, "latest": waiting.latest})


@page(methods=("GET", "POST"))
def review(request: SignedInRequest, pk: UUID) -> HttpResponse:
    """Show what would be issued; only POST decides."""
    snapshot = _read(request, pk)
    if request.method != "POST":
        return _show(request, snapshot)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _show(request, snapshot, status=HTTPStatus.UNPROCESSABLE_ENTITY, form=form)
    return _decide(request, pk, form)


@page()
def show_page_version(request: SignedInRequest, pk: UUID) -> HttpResponse:
    """Tell asking.js, on a review page that is not final, whether that page is outdated."""
    mark_as_polling()
    review, _ = _describe(request.user, _read(request, pk))
    return JsonResponse({"version": review["page_version"]})


def _read(request: SignedInRequest, pk: UUID) -> ApprovalSnapshot:
    return read_approval(IssueApproval.objects.asked_of(request.user), pk, now=timezone.now())


def _show(
    request: SignedInRequest,
    snapshot: ApprovalSnapshot,
    *,
    status: HTTPStatus = HTTPStatus.OK,
    form: DecisionForm | None = None,
) -> HttpResponse:
    review, template = _describe(request.user, snapshot)
    form = form or DecisionForm()
    is_pending = snapshot.state == ApprovalState.PENDING
    context = {
        "review": review,
        "next_href": "" if is_pending else _find_next(request.user, now=snapshot.now),
        "form": form,
        # An error in the reason stands beside its field, if that is still shown.
        "is_refused": status in REFUSALS
        or bool(form.errors.keys() - {"reason"})
        or bool(form.errors and not is_pending),
    }
    return render(request, template, context, status=status)


def _describe(user: User, snapshot: ApprovalSnapshot) -> tuple[Told, str]:
    """Return what the review page says to this person, and its template."""
    if IssueApproval.objects.visible_to(user).filter(pk=snapshot.approval.pk).exists():
        return describe_review(snapshot, user), "invoicing/review.html"
    return describe_hidden(snapshot, user), "invoicing/review_hidden.html"


def _find_next(user: User, *, now: datetime) -> str:
    """Return the link of a request that can be decided, the first to expire, or an empty text.

    It is one of the inbox's first page: stale ones there are told by reading their drafts.
    """
    waiting, _ = read_pending(user, after=None, now=now)
    return next(
        (each["href"] for each in describe_entries(waiting, user) if each["is_waiting"]), ""
    )


def _decide(request: SignedInRequest, pk: UUID, form: DecisionForm) -> HttpResponse:
    decision = DECISIONS[form.cleaned_data["decision"]]
    try:
        decide_approval(
            request.user,
            pk,
            decision=decision,
            fingerprint=form.cleaned_data["fingerprint"],
            reason=form.cleaned_data["reason"],
            origin=web_origin(),
        )
    except (ApprovalStateError, ConnectionEndedError, PermissionMissingError) as refusal:
        snapshot = _read(request, pk)
        if snapshot.approval.decision != decision:
            return _show(request, snapshot, status=_status_of(refusal), form=form)
        # A double click, or the form sent again after going back: it is decided so already.
    return redirect("approval", pk=pk)


def _status_of(refusal: InvoicingError) -> HTTPStatus:
    is_forbidden = isinstance(refusal, PermissionMissingError)
    return HTTPStatus.FORBIDDEN if is_forbidden else HTTPStatus.CONFLICT
