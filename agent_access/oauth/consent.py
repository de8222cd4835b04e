"""The consent page: the owner reads who asks for what, and allows or refuses it."""

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from oauthlib.oauth2 import FatalClientError, OAuth2Error
from oauthlib.oauth2.rfc6749.errors import AccessDeniedError

from agent_access.admin_site import may_approve
from agent_access.audit import Actor, make_origin, record_act
from agent_access.confirming import NotConfirmedError, ask, confirm
from agent_access.connections import (
    ConnectionExistsError,
    ConnectionNotAllowedError,
    Consent,
)
from agent_access.models import Connection, Transport
from agent_access.oauth import return_addresses
from agent_access.oauth.asking_pages import may_ask, serve_asker
from agent_access.oauth.authorization import (
    UNKNOWN_CLIENT,
    AuthorizationRequest,
    UnusableRequestError,
    make_connection,
    read_request,
)
from agent_access.oauth.forms import ConsentForm
from agent_access.oauth.pages import locate, page, return_to_client, show_problem, show_request
from agent_access.oauth.refusals import HELP
from agent_access.oauth.repeats import AlreadyAnsweredError, renew_code

ALLOW, REFUSE = "allow", "refuse"
NOT_THE_OWNER = gettext_noop(
    "Only the owner of this application can allow access. Let the owner sign in here, or ask the"
    " owner for a credential that the client can send instead."
)


@page("GET", "POST")
def authorize(request: HttpRequest) -> HttpResponseBase:
    """Interface: "Open the owner consent page". The owner is asked every time.

    Whoever may be acted for can ask the owner from here; nobody else is shown a request.
    """
    if not (may_approve(request) or may_ask(request)):
        return show_problem(request, gettext(NOT_THE_OWNER), status=403)
    query = request.META.get("QUERY_STRING", "")
    try:
        authorization = read_request(query, origin=make_origin(Transport.WEB))
    except UnusableRequestError as error:
        refusal = show_problem(request, error.told(), status=error.status)
        for name, value in error.headers.items():
            refusal[name] = value
        return refusal
    except OAuth2Error as error:
        return _offer_return(request, error)
    if not may_approve(request):
        return serve_asker(request, authorization)
    if request.method == "GET":
        return _show(request, ConsentForm(approver=request.user, authorization=authorization))
    return _decide(request, authorization)


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
        confirm(request)
        return _allow(form.authorization, form.read_consent())
    except NotConfirmedError as refusal:
        return refusal.mark(_show(request, form))
    except AlreadyAnsweredError:
        return _show_answered(request)
    except FatalClientError:
        # Known a moment ago, and deleted or changed since.
        return show_problem(request, gettext(UNKNOWN_CLIENT), status=400)
    except ConnectionNotAllowedError as error:
        form.add_error(None, error.told())
        return _show(request, form, status=422)


def _allow(authorization: AuthorizationRequest, consent: Consent) -> HttpResponse:
    """Redirect with a code: of a new connection, or of the one that this form made before."""
    try:
        code = make_connection(authorization, consent, decided_at=timezone.now())
    except ConnectionExistsError:
        code = renew_code(consent, origin=authorization.origin)
    return return_to_client(authorization, [("code", code)])


@transaction.atomic
def _refuse(request: HttpRequest, authorization: AuthorizationRequest) -> HttpResponse:
    by = Actor(authorization.origin, request.user.pk)
    record_act("consent:refused", by, target=authorization.client.audit_target)
    return return_to_client(authorization, AccessDeniedError().twotuples)


def _offer_return(request: HttpRequest, error: OAuth2Error) -> HttpResponse:
    """Offer the owner a link back with the error: nobody has vouched for that address (ADR 12)."""
    error.description = error.description or HELP.get(error.error, "")
    context = {
        "error": error.error,
        "description": error.description,
        "return_address": error.redirect_uri,
        "host": return_addresses.host_of(error.redirect_uri),
        "location": locate(error.redirect_uri, error.twotuples),
    }
    return render(request, "agent_access/consent_return.html", context, status=400)


def _show(request: HttpRequest, form: ConsentForm, *, status: int = 200) -> HttpResponseBase:
    template = "agent_access/consent.html"
    shown = {"form": form, "confirmation": ask(request)}
    return show_request(request, template, form.authorization, status=status, **shown)


def _show_answered(request: HttpRequest) -> HttpResponse:
    return render(request, "agent_access/consent_answered.html", status=409)
