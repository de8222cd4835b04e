"""The pages on which a person asks the owner and waits, and on which the owner answers."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from oauthlib.oauth2 import FatalClientError
from oauthlib.oauth2.rfc6749.errors import AccessDeniedError

from agent_access import conf, confirming
from agent_access.admin.moments import format_minute
from agent_access.admin_site import may_approve
from agent_access.audit import make_origin
from agent_access.confirming import NotConfirmedError, confirm
from agent_access.connections import ConnectionNotAllowedError
from agent_access.models import Transport
from agent_access.oauth.asking import (
    Asker,
    Decision,
    NotOpenError,
    State,
    TooManyAsksError,
    allow,
    ask,
    asked_of,
    find_approver,
    find_asked,
    find_own_scopes,
    mint_code,
    refuse,
    state_of,
)
from agent_access.oauth.authorization import UNKNOWN_CLIENT, AuthorizationRequest
from agent_access.oauth.forms import AnswerForm, AskForm
from agent_access.oauth.models import AccessRequest
from agent_access.oauth.pages import (
    describe_client,
    page,
    return_to_client,
    show_problem,
    show_request,
)
from agent_access.oauth.paths import ACCESS_REQUEST, ACCESS_REQUEST_STATE
from agent_access.request_facts import note
from agent_access.web_sessions import has_session

ASK = "ask"
NO_SCOPE = gettext_noop("You do not have a permission for anything that the client asks for.")


def may_ask(request: HttpRequest) -> bool:
    """Return whether somebody is signed in whom an agent could act for, if the owner allowed it."""
    return has_session(request) and find_approver(request.user) is not None


def serve_asker(request: HttpRequest, authorization: AuthorizationRequest) -> HttpResponseBase:
    """Let the person ask, then wait, and at last go on to the client."""
    asked = find_asked(authorization, _asker(request))
    state = state_of(asked, now=timezone.now()) if asked else None
    if asked is None or state == State.OVER:
        return _offer_to_ask(request, authorization, is_over=asked is not None)
    if request.method == "GET" or state in {State.PENDING, State.MINTED}:
        return _show_asked(request, authorization, asked, state)
    if state == State.REFUSED:
        return return_to_client(authorization, AccessDeniedError().twotuples)
    return _fetch_code(request, authorization, asked)


def _format(moment: datetime | None, reader: Any) -> str:
    """Return the moment in the reader's time zone, which no page without sign-in activates."""
    with timezone.override(conf.policy().time_zone(reader)):
        return format_minute(moment)


def _asker(request: HttpRequest) -> Asker:
    return Asker(person=request.user, session_key=request.session.session_key or "")


def _offer_to_ask(
    request: HttpRequest, authorization: AuthorizationRequest, *, is_over: bool
) -> HttpResponseBase:
    scopes = find_own_scopes(request.user, authorization.scopes)
    if not scopes:
        return show_problem(request, gettext(NO_SCOPE), status=403)
    is_sent = request.method == "POST" and request.POST.get("decision") == ASK
    form = AskForm(request.POST if is_sent else None, scopes=scopes)
    status = 409 if request.method == "POST" else 200
    if is_sent:
        status = 422
        if form.is_valid():
            try:
                return _ask(request, authorization, form)
            except TooManyAsksError as error:
                return show_problem(request, error.told(), status=429)
            except ConnectionNotAllowedError as error:
                form.add_error(None, error.told())
    template = "agent_access/consent_ask.html"
    return show_request(request, template, authorization, status=status, form=form, is_over=is_over)


def _ask(
    request: HttpRequest, authorization: AuthorizationRequest, form: AskForm
) -> HttpResponseBase:
    chosen = form.cleaned_data
    terms = {"scopes": chosen["scopes"], "days": chosen["expires_in_days"]}
    ask(authorization, _asker(request), **terms)
    return HttpResponseRedirect(authorization.uri)


def _show_asked(
    request: HttpRequest, authorization: AuthorizationRequest, asked: AccessRequest, state: Any
) -> HttpResponseBase:
    context = {
        "state": state,
        "until": _format(asked.expires_at, request.user),
        "state_href": reverse(ACCESS_REQUEST_STATE, args=[asked.pk]),
    }
    return show_request(request, "agent_access/consent_asked.html", authorization, **context)


def _fetch_code(
    request: HttpRequest, authorization: AuthorizationRequest, asked: AccessRequest
) -> HttpResponseBase:
    try:
        code = mint_code(asked, authorization, request.user)
    except NotOpenError:  # another poll came first
        return _show_asked(request, authorization, asked, State.MINTED)
    except FatalClientError:
        return show_problem(request, gettext(UNKNOWN_CLIENT), status=400)
    except ConnectionNotAllowedError as error:
        return show_problem(request, error.told(), status=409)
    return return_to_client(authorization, [("code", code)])


@page("GET")
def show_state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Tell the script of the asking page whether the owner's answer is still to come."""
    note(is_routine=True)  # an open page asks by itself, and is not to fill the log
    asker = _asker(request)
    own = AccessRequest.objects.filter(person=asker.person, session_digest=asker.session_digest)
    asked = own.filter(pk=pk).first()
    if asked is None:
        raise Http404
    return JsonResponse({"is_waiting": state_of(asked, now=timezone.now()) == State.PENDING})


@page("GET", "POST")
def answer(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the owner who asks for what; only POST decides."""
    asked = _read_asked(request, pk)
    if request.method == "GET":
        return _show_answer(request, asked, AnswerForm(asked=asked))
    form = AnswerForm(request.POST, asked=asked)
    try:
        if not _decide(request, asked, form):
            return _show_answer(request, asked, form, status=422)
    except NotConfirmedError as refusal:
        return refusal.mark(_show_answer(request, asked, form))
    except NotOpenError:
        asked = _read_asked(request, pk)
        if asked.decision != request.POST["decision"]:
            return _show_answer(request, asked, form, status=409)
        # A double click, or the form sent again after going back: it is decided so already.
    except ConnectionNotAllowedError as error:
        form.add_error(None, error.told())
        return _show_answer(request, asked, form, status=422)
    return redirect(ACCESS_REQUEST, pk=pk)


def _read_asked(request: HttpRequest, pk: UUID) -> AccessRequest:
    """Return the request as it is now; raises Http404, as when its client was deleted meanwhile."""
    asked = asked_of(request.user).filter(pk=pk).first() if may_approve(request) else None
    if asked is None:
        raise Http404
    return asked


def _decide(request: HttpRequest, asked: AccessRequest, form: AnswerForm) -> bool:
    """Store what the form says; return whether it says anything."""
    decision, is_valid = request.POST.get("decision"), form.is_valid()
    by: dict[str, Any] = {"owner": request.user, "origin": make_origin(Transport.WEB)}
    if decision == Decision.ALLOWED and is_valid:
        chosen = form.cleaned_data
        confirm(request)
        allow(asked, scopes=chosen["scopes"], days=chosen["expires_in_days"], **by)
        return True
    if decision == Decision.REFUSED:
        refuse(asked, **by)
        return True
    return False


def _show_answer(
    request: HttpRequest, asked: AccessRequest, form: AnswerForm, *, status: int = 200
) -> HttpResponse:
    context = {
        **describe_client(asked.client, asked.return_address),
        "form": form,
        "confirmation": confirming.ask(request),
        "asked": asked,
        "state": state_of(asked, now=timezone.now()),
        "asked_at": _format(asked.asked_at, request.user),
        "until": _format(asked.expires_at, request.user),
        "decided_at": _format(asked.decided_at, request.user),
    }
    return render(request, "agent_access/access_request.html", context, status=status)
