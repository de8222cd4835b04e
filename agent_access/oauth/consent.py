"""The consent page: the owner reads who asks for what, and allows or refuses it."""

from urllib.parse import parse_qsl, urlsplit

from csp.decorators import csp_update
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import DisallowedRedirect
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.clickjacking import xframe_options_deny
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods
from oauthlib.oauth2 import FatalClientError, OAuth2Error
from oauthlib.oauth2.rfc6749.errors import AccessDeniedError

from agent_access import gate
from agent_access.admin_site import may_approve
from agent_access.audit import Actor, make_origin, record_act
from agent_access.connections import (
    ConnectionExistsError,
    ConnectionNotAllowedError,
    Consent,
)
from agent_access.models import Connection, Transport
from agent_access.oauth import return_addresses
from agent_access.oauth.authorization import (
    TOO_LONG,
    UNKNOWN_CLIENT,
    AuthorizationRequest,
    UnusableRequestError,
    read_request,
)
from agent_access.oauth.endpoints import is_sign_in_on
from agent_access.oauth.forms import ConsentForm
from agent_access.oauth.paths import issuer
from agent_access.oauth.refusals import HELP
from agent_access.oauth.repeats import AlreadyAnsweredError, renew_code
from agent_access.oauth.server import Server
from agent_access.request_facts import note

ALLOW, REFUSE = "allow", "refuse"
NOT_THE_OWNER = gettext_noop(
    "Only the owner of this application can allow access. Let the owner sign in here, or ask the"
    " owner for a credential that the client can send instead."
)

SIGN_IN_OFF = gettext_noop(
    "Agent access or browser sign-in is off. Turn both on under Agent access in the administration,"
    " then let the client ask again."
)


@transaction.non_atomic_requests
@csrf_exempt
@login_not_required
@xframe_options_deny
@gate.guards_page
def authorize(request: HttpRequest) -> HttpResponseBase:
    """Interface: "Open the owner consent page". While sign-in is off, it is not found.

    Only the owner is told why. That comes before a refusal of the method or of a forged form, so
    these are checked inside.
    """
    if not is_sign_in_on():
        if may_approve(request):
            return _show_problem(request, gettext(SIGN_IN_OFF), status=404)
        raise Http404
    return _ask(request)


@require_http_methods(["GET", "POST"])
@csrf_protect
def _ask(request: HttpRequest) -> HttpResponseBase:
    """Ask the owner every time, whatever was allowed before; nobody else is asked."""
    if not request.user.is_authenticated:
        return _send_to_sign_in(request)
    note(person_id=request.user.pk)
    if not may_approve(request):
        return _show_problem(request, gettext(NOT_THE_OWNER), status=403)
    query = request.META.get("QUERY_STRING", "")
    try:
        authorization = read_request(query, origin=make_origin(Transport.WEB))
    except UnusableRequestError as error:
        page = _show_problem(request, error.told(), status=error.status)
        for name, value in error.headers.items():
            page[name] = value
        return page
    except OAuth2Error as error:
        return _offer_return(request, error)
    if request.method == "GET":
        return _show(request, ConsentForm(approver=request.user, authorization=authorization))
    return _decide(request, authorization)


def _send_to_sign_in(request: HttpRequest) -> HttpResponse:
    try:
        return redirect_to_login(request.get_full_path())
    except DisallowedRedirect:  # quoted once more, the request is too long for Django
        return _show_problem(request, gettext(TOO_LONG), status=400)


def _decide(request: HttpRequest, authorization: AuthorizationRequest) -> HttpResponseBase:
    form = ConsentForm(request.POST, approver=request.user, authorization=authorization)
    is_valid = form.is_valid()
    decision = request.POST.get("decision")
    if decision == REFUSE and _was_allowed(form):
        return _show_answered(request)
    if decision == REFUSE:
        return _refuse(request, authorization)
    if decision == ALLOW and is_valid:
        return _try_to_allow(request, form)
    return _show(request, form, status=422)


def _was_allowed(form: ConsentForm) -> bool:
    """Return whether this very form was sent before, and made a connection."""
    once = form.cleaned_data.get("once")
    return once is not None and Connection.objects.filter(pk=once).exists()


def _try_to_allow(request: HttpRequest, form: ConsentForm) -> HttpResponseBase:
    try:
        return _allow(form.authorization, form.read_consent())
    except AlreadyAnsweredError:
        return _show_answered(request)
    except FatalClientError:
        # Known a moment ago, and deleted or changed since.
        return _show_problem(request, gettext(UNKNOWN_CLIENT), status=400)
    except ConnectionNotAllowedError as error:
        form.add_error(None, error.told())
        return _show(request, form, status=422)


def _allow(authorization: AuthorizationRequest, consent: Consent) -> HttpResponse:
    """Redirect with a code: of a new connection, or of the one that this form made before."""
    try:
        code = _make_connection(authorization, consent)
    except ConnectionExistsError:
        code = renew_code(consent, origin=authorization.origin)
    return _redirect(authorization, [("code", code)])


@transaction.atomic
def _make_connection(authorization: AuthorizationRequest, consent: Consent) -> str:
    """Make the connection and its code together; return the code."""
    headers, _, _ = Server(authorization.origin).create_authorization_response(
        authorization.uri, scopes=list(consent.scopes), credentials={"consent": consent}
    )
    answer: list[tuple[str, str]] = parse_qsl(urlsplit(headers["Location"]).query)
    return dict(answer)["code"]


@transaction.atomic
def _refuse(request: HttpRequest, authorization: AuthorizationRequest) -> HttpResponse:
    by = Actor(authorization.origin, request.user.pk)
    record_act("consent:refused", by, target=authorization.client.audit_target)
    return _redirect(authorization, AccessDeniedError().twotuples)


def _redirect(authorization: AuthorizationRequest, answer: list[tuple[str, str]]) -> HttpResponse:
    state = [("state", authorization.state)] if authorization.state else []
    return HttpResponseRedirect(_locate(authorization.return_address, [*answer, *state]))


def _locate(return_address: str, answer: list[tuple[str, str]]) -> str:
    """Return where the client gets the answer, with `iss`, which tells who gives it (RFC 9207)."""
    return return_addresses.add_answer(return_address, [*answer, ("iss", issuer())])


def _offer_return(request: HttpRequest, error: OAuth2Error) -> HttpResponse:
    """Offer the owner a link back with the error: nobody has vouched for that address (ADR 12)."""
    error.description = error.description or HELP.get(error.error, "")
    context = {
        "error": error.error,
        "description": error.description,
        "return_address": error.redirect_uri,
        "host": return_addresses.host_of(error.redirect_uri),
        "location": _locate(error.redirect_uri, error.twotuples),
    }
    return render(request, "agent_access/consent_return.html", context, status=400)


def _show(request: HttpRequest, form: ConsentForm, *, status: int = 200) -> HttpResponseBase:
    authorization = form.authorization
    context = {
        "form": form,
        "client": authorization.client,
        "client_host": authorization.client_host,
        "return_address": authorization.return_address,
        "is_loopback": return_addresses.is_loopback(authorization.return_address),
    }

    # Chromium applies form-action to the redirect after a form, too.
    @csp_update({"form-action": [return_addresses.policy_source(authorization.return_address)]})
    def show(request: HttpRequest) -> HttpResponse:
        return render(request, "agent_access/consent.html", context, status=status)

    return show(request)


def _show_problem(request: HttpRequest, problem: str, *, status: int) -> HttpResponse:
    context = {"problem": problem}
    return render(request, "agent_access/consent_problem.html", context, status=status)


def _show_answered(request: HttpRequest) -> HttpResponse:
    return render(request, "agent_access/consent_answered.html", status=409)
