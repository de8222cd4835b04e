"""The inbox of approvals, and the review page on which a person decides.

They expect a person who is signed in: a project routes to them through `urls`, or through its own
decorators under the same names.
"""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from agent_access import conf, signing
from agent_access.approvals.descriptions import (
    Told,
    describe_cards,
    describe_entries,
    describe_hidden,
    describe_review,
    describe_told,
)
from agent_access.approvals.engine import decide, read_approval, reject_all, withdraw
from agent_access.approvals.errors import (
    ApprovalError,
    ApprovalNotFoundError,
    ApprovalStateError,
    ConnectionEndedError,
    DecisionNotAllowedError,
)
from agent_access.approvals.forms import DECISIONS, DecisionForm
from agent_access.approvals.history import describe_history, describe_since
from agent_access.approvals.inbox import (
    MOST_COUNTED,
    InboxPage,
    count_missed,
    find_told,
    find_waiting,
    read_cards,
    read_missed,
    read_others,
    visible_to,
)
from agent_access.approvals.kinds import kinds
from agent_access.approvals.models import ApprovalRequest
from agent_access.approvals.places import (
    DECIDED,
    address_after,
    describe_decided,
    describe_place,
)
from agent_access.approvals.sightings import look_at
from agent_access.approvals.signatures import act_of
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.states import ApprovalState
from agent_access.audit import make_origin
from agent_access.identifiers import read_id
from agent_access.models.audit import Transport
from agent_access.request_facts import note
from agent_access.signing import SignatureRefusedError
from agent_access.web_sessions import has_session

REFUSALS = {HTTPStatus.CONFLICT, HTTPStatus.FORBIDDEN}
# The query parameter of a review page by which it says that the approval was just taken back.
WITHDRAWN = "withdrawn"


def list_approvals(request: HttpRequest) -> HttpResponse:
    """Show a card for each thing to decide, and the other approvals.

    A further page goes on with one of the two lists.
    """
    user, now = request.user, timezone.now()
    after, before = (_read_cursor(request, name) for name in ("after", "before"))
    nothing: InboxPage = [], None
    cards, next_cards = read_cards(user, after=after, now=now) if before is None else nothing
    others, next_others = read_others(user, before=before, now=now) if after is None else nothing
    is_first_page = after is None and before is None
    told = find_told(user, now=now) if is_first_page else []
    missed = count_missed(user, now=now) if is_first_page else 0
    context = {
        "told": describe_told(told, now=now),
        "cards": describe_cards(cards, user),
        "others": describe_entries(others, user),
        "is_first_page": is_first_page,
        "missed": min(missed, MOST_COUNTED),
        "misses_more": missed > MOST_COUNTED,
        "next_cards": next_cards,
        "next_others": next_others,
    }
    return render(request, "agent_approvals/inbox.html", context)


def list_missed(request: HttpRequest) -> HttpResponse:
    """Show what expired lately without the person's decision."""
    before = _read_cursor(request, "before")
    missed, next_missed = read_missed(request.user, before=before, now=timezone.now())
    context = {
        "missed": describe_entries(missed, request.user),
        "is_first_page": before is None,
        "next_missed": next_missed,
    }
    return render(request, "agent_approvals/missed.html", context)


def _read_cursor(request: HttpRequest, name: str) -> UUID | None:
    try:
        return read_id(request.GET.get(name, ""))
    except ValueError:
        return None


def show_waiting_count(request: HttpRequest) -> HttpResponse:
    """Tell a script, on any page, what waits now: a request lasts only minutes."""
    note(is_routine=True)  # an open page asks by itself, and is not to fill the log
    waiting = find_waiting(request.user)
    told = {"count": waiting.count, "shown": waiting.shown, "latest": waiting.latest}
    return JsonResponse(told)


def review(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show what would be executed; only POST decides."""
    snapshot = _read(request, pk)
    if request.method != "POST":
        return _show(request, snapshot)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _show(request, snapshot, status=HTTPStatus.UNPROCESSABLE_ENTITY, form=form)
    return _decide(request, pk, form)


def withdraw_approval(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Take back what was approved and not executed yet; only POST does."""
    if request.method != "POST":  # as after signing in again
        return redirect("agent_approvals:review", pk=pk)
    _require_session(request)
    try:
        withdraw(request.user, pk, origin=make_origin(Transport.WEB))
    except ApprovalNotFoundError:
        raise Http404 from None
    except (ApprovalStateError, DecisionNotAllowedError) as refusal:
        return _show(request, _read(request, pk), status=_status_of(refusal))
    return redirect(f"{reverse('agent_approvals:review', args=[pk])}?{WITHDRAWN}")


def reject_all_of(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Reject all that a connection asks the person; only POST does."""
    if request.method == "POST":
        _require_session(request)
        try:
            reject_all(request.user, pk, origin=make_origin(Transport.WEB))
        except DecisionNotAllowedError:
            raise PermissionDenied from None
    return redirect("agent_approvals:inbox")


def _require_session(request: HttpRequest) -> None:
    if not has_session(request):
        raise PermissionDenied


def show_page_version(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Tell a script, on a review page that is not final, whether that page is outdated."""
    note(is_routine=True)  # as above
    snapshot = _read(request, pk)
    is_visible = _is_visible(request.user, snapshot)
    review, _ = _describe(request.user, snapshot, is_visible=is_visible)
    return JsonResponse({"version": review["page_version"]})


def give_options(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Give a script of the page what a browser needs to sign the approval; only by POST."""
    if request.method != "POST":
        return redirect("agent_approvals:review", pk=pk)
    _require_session(request)
    snapshot = _read(request, pk)
    kind = kinds.get(snapshot.approval.kind)
    if not _may_sign(request.user, snapshot, is_visible=_is_visible(request.user, snapshot)):
        raise PermissionDenied
    act = act_of(kind, snapshot.approval, snapshot.target)
    options = signing.make_options(act, request)
    return JsonResponse({"publicKey": options})


def _may_sign(user: Any, snapshot: ApprovalSnapshot, *, is_visible: bool) -> bool:
    """Return whether the person could approve it now, were it not for a signature."""
    approval = snapshot.approval
    return snapshot.is_undecided and kinds.get(approval.kind).may_approve(user) and is_visible


def _ask_signature(
    request: HttpRequest, snapshot: ApprovalSnapshot, *, is_visible: bool
) -> signing.Asking | None:
    """Return what the page says of the signature that approving needs; None if it needs none."""
    if not _may_sign(request.user, snapshot, is_visible=is_visible):
        return None
    approval = snapshot.approval
    act = act_of(kinds.get(approval.kind), approval, snapshot.target)
    address = conf.base_url() + reverse("agent_approvals:review", args=[approval.pk])
    return signing.ask(act, request, address)


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
    refusal: SignatureRefusedError | None = None,
) -> HttpResponse:
    is_visible = _is_visible(request.user, snapshot)
    review, template = _describe_page(request.user, snapshot, is_visible=is_visible)
    form = form or DecisionForm()
    is_pending = snapshot.state == ApprovalState.PENDING
    context = {
        "review": review,
        "is_decidable": is_pending and not review.get("lacks_signature"),
        "form": form,
        "signature": _ask_signature(request, snapshot, is_visible=is_visible),
        "not_signed": refusal.reason if refusal else "",
        "is_withdrawn": snapshot.state == ApprovalState.STALE and WITHDRAWN in request.GET,
        **describe_place(request.user, snapshot),
        "decided": describe_decided(request.user, _read_cursor(request, DECIDED), here=snapshot),
        **(_describe_past(request, snapshot) if is_visible else {}),
        # An error in the reason stands beside its field, if that is still shown.
        "is_refused": (status in REFUSALS and not refusal)
        or bool(form.errors.keys() - {"reason"})
        or bool(form.errors and not is_pending),
    }
    return render(request, template, context, status=status)


def _describe_past(request: HttpRequest, snapshot: ApprovalSnapshot) -> Told:
    """Describe what differs from what the person saw before, and what happened to what they see.

    It is no part of the page's version: looking alone changes it.
    """
    user, approval = request.user, snapshot.approval
    kind = kinds.get(approval.kind)
    history = describe_history(kind, snapshot.target, approval.target, user, now=snapshot.now)
    if not snapshot.is_undecided:
        return {"history": history}
    since = describe_since(snapshot, user)
    if request.method == "GET":
        look_at(snapshot)
    return {"history": history, "since": since}


def _is_visible(user: Any, snapshot: ApprovalSnapshot) -> bool:
    return visible_to(user).filter(pk=snapshot.approval.pk).exists()


def _describe(user: Any, snapshot: ApprovalSnapshot, *, is_visible: bool) -> tuple[Told, str]:
    """Return what the review page says to this person, and its template."""
    kind = kinds.get(snapshot.approval.kind)
    if is_visible:
        return describe_review(snapshot, user), kind.review_template
    return describe_hidden(snapshot, user), kind.hidden_template


def _describe_page(user: Any, snapshot: ApprovalSnapshot, *, is_visible: bool) -> tuple[Told, str]:
    """Return the same with all warnings: the version of the page leaves out the slow ones."""
    review, template = _describe(user, snapshot, is_visible=is_visible)
    if snapshot.state == ApprovalState.PENDING and is_visible:
        slow = kinds.get(snapshot.approval.kind).slow_warnings(snapshot, user)
        review = review | {"warnings": [*review["warnings"], *slow]}
    return review, template


def _decide(request: HttpRequest, pk: UUID, form: DecisionForm) -> HttpResponse:
    _require_session(request)
    decision = DECISIONS[form.cleaned_data["decision"]]
    try:
        decide(
            request.user,
            pk,
            decision=decision,
            fingerprint=form.cleaned_data["fingerprint"],
            reason=form.cleaned_data["reason"],
            origin=make_origin(Transport.WEB),
            proof=signing.make_proof(request, form.cleaned_data["assertion"]),
        )
    except ApprovalNotFoundError:
        raise Http404 from None
    except SignatureRefusedError as refusal:
        return _show(request, _read(request, pk), status=refusal.status, form=form, refusal=refusal)
    except (ApprovalStateError, ConnectionEndedError, DecisionNotAllowedError) as refusal:
        snapshot = _read(request, pk)
        if snapshot.approval.decision != decision:
            return _show(request, snapshot, status=_status_of(refusal), form=form)
        # A double click, or the form sent again after going back: it is decided so already.
    return redirect(address_after(request.user, _read(request, pk)))


def _status_of(refusal: ApprovalError) -> HTTPStatus:
    is_forbidden = isinstance(refusal, DecisionNotAllowedError)
    return HTTPStatus.FORBIDDEN if is_forbidden else HTTPStatus.CONFLICT
