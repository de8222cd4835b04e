"""The inbox of approvals, and the review page on which a person decides.

They expect a person who is signed in: a project routes to them through `urls`, or through its own
decorators under the same names.
"""

from datetime import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from agent_access.approvals.descriptions import (
    Told,
    describe_entries,
    describe_hidden,
    describe_review,
)
from agent_access.approvals.engine import decide, read_approval
from agent_access.approvals.errors import (
    ApprovalError,
    ApprovalNotFoundError,
    ApprovalStateError,
    ConnectionEndedError,
    DecisionNotAllowedError,
)
from agent_access.approvals.forms import DECISIONS, DecisionForm
from agent_access.approvals.inbox import (
    InboxPage,
    find_waiting,
    read_others,
    read_pending,
    visible_to,
)
from agent_access.approvals.kinds import kinds
from agent_access.approvals.models import ApprovalRequest
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.states import ApprovalState
from agent_access.audit import make_origin
from agent_access.identifiers import read_id
from agent_access.models.audit import Transport
from agent_access.request_facts import note
from agent_access.web_sessions import has_session

REFUSALS = {HTTPStatus.CONFLICT, HTTPStatus.FORBIDDEN}


def list_approvals(request: HttpRequest) -> HttpResponse:
    """Show the pending approvals and the others; a further page goes on with one of the lists."""
    user, now = request.user, timezone.now()
    after, before = (_read_cursor(request, name) for name in ("after", "before"))
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
    return render(request, "agent_approvals/inbox.html", context)


def _read_cursor(request: HttpRequest, name: str) -> UUID | None:
    try:
        return read_id(request.GET.get(name, ""))
    except ValueError:
        return None


def show_waiting_count(request: HttpRequest) -> HttpResponse:
    """Tell a script, on any page, what waits now: a request lasts only minutes."""
    note(is_routine=True)  # an open page asks by itself, and is not to fill the log
    waiting = find_waiting(request.user)
    return JsonResponse({"count": waiting.count, "latest": waiting.latest})


def review(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show what would be executed; only POST decides."""
    snapshot = _read(request, pk)
    if request.method != "POST":
        return _show(request, snapshot)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _show(request, snapshot, status=HTTPStatus.UNPROCESSABLE_ENTITY, form=form)
    return _decide(request, pk, form)


def show_page_version(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Tell a script, on a review page that is not final, whether that page is outdated."""
    note(is_routine=True)  # as above
    review, _ = _describe(request.user, _read(request, pk))
    return JsonResponse({"version": review["page_version"]})


def _read(request: HttpRequest, pk: UUID) -> ApprovalSnapshot:
    try:
        return read_approval(ApprovalRequest.objects.asked_of(request.user), pk, now=timezone.now())
    except ApprovalNotFoundError:
        raise Http404 from None


def _show(
    request: HttpRequest,
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


def _describe(user: Any, snapshot: ApprovalSnapshot) -> tuple[Told, str]:
    """Return what the review page says to this person, and its template."""
    kind = kinds.get(snapshot.approval.kind)
    if visible_to(user).filter(pk=snapshot.approval.pk).exists():
        return describe_review(snapshot, user), kind.review_template
    return describe_hidden(snapshot, user), kind.hidden_template


def _find_next(user: Any, *, now: datetime) -> str:
    """Return the link of a request that can be decided, the first to expire, or an empty text.

    It is one of the inbox's first page: stale ones there are told by reading their targets.
    """
    waiting, _ = read_pending(user, after=None, now=now)
    return next(
        (each["href"] for each in describe_entries(waiting, user) if each["is_waiting"]), ""
    )


def _decide(request: HttpRequest, pk: UUID, form: DecisionForm) -> HttpResponse:
    if not has_session(request):
        raise PermissionDenied
    decision = DECISIONS[form.cleaned_data["decision"]]
    try:
        decide(
            request.user,
            pk,
            decision=decision,
            fingerprint=form.cleaned_data["fingerprint"],
            reason=form.cleaned_data["reason"],
            origin=make_origin(Transport.WEB),
        )
    except ApprovalNotFoundError:
        raise Http404 from None
    except (ApprovalStateError, ConnectionEndedError, DecisionNotAllowedError) as refusal:
        snapshot = _read(request, pk)
        if snapshot.approval.decision != decision:
            return _show(request, snapshot, status=_status_of(refusal), form=form)
        # A double click, or the form sent again after going back: it is decided so already.
    return redirect("agent_approvals:review", pk=pk)


def _status_of(refusal: ApprovalError) -> HTTPStatus:
    is_forbidden = isinstance(refusal, DecisionNotAllowedError)
    return HTTPStatus.FORBIDDEN if is_forbidden else HTTPStatus.CONFLICT
