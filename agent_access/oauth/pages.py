"""What the pages of browser sign-in share: when they answer, and how they return to a client."""

from collections.abc import Callable
from functools import wraps
from typing import Any

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

from agent_access import gate
from agent_access.admin_site import may_approve
from agent_access.oauth import return_addresses
from agent_access.oauth.authorization import TOO_LONG, AuthorizationRequest
from agent_access.oauth.endpoints import is_sign_in_on
from agent_access.oauth.paths import issuer
from agent_access.request_facts import note

Page = Callable[..., HttpResponseBase]

SIGN_IN_OFF = gettext_noop(
    "Agent access or browser sign-in is off. Turn both on under Agent access in the administration,"
    " then let the client ask again."
)


def page(*methods: str) -> Callable[[Page], Page]:
    """Make a view a page for people who have signed in; while sign-in is off, it is not found.

    Only the owner is told why. That comes before a refusal of the method or of a forged form, so
    these are checked inside.
    """

    def decorate(view: Page) -> Page:
        @require_http_methods(methods)
        @csrf_protect
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _send_to_sign_in(request)
            note(person_id=request.user.pk)
            return view(request, *args, **kwargs)

        @transaction.non_atomic_requests
        @csrf_exempt
        @login_not_required
        @xframe_options_deny
        @gate.guards_page
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if is_sign_in_on():
                return answer(request, *args, **kwargs)
            if may_approve(request):
                return show_problem(request, gettext(SIGN_IN_OFF), status=404)
            raise Http404

        return guarded

    return decorate


def _send_to_sign_in(request: HttpRequest) -> HttpResponse:
    try:
        return redirect_to_login(request.get_full_path())
    except DisallowedRedirect:  # quoted once more, the request is too long for Django
        return show_problem(request, gettext(TOO_LONG), status=400)


def show_problem(request: HttpRequest, problem: str, *, status: int) -> HttpResponse:
    context = {"problem": problem}
    return render(request, "agent_access/consent_problem.html", context, status=status)


def show_request(
    request: HttpRequest,
    template: str,
    authorization: AuthorizationRequest,
    *,
    status: int = 200,
    **context: Any,
) -> HttpResponseBase:
    """Show a page about what a client asks, of which a form may return to the client."""
    context |= describe_client(authorization.client, authorization.return_address)

    # Chromium applies form-action to the redirect after a form, too.
    @csp_update({"form-action": [return_addresses.policy_source(authorization.return_address)]})
    def show(request: HttpRequest) -> HttpResponse:
        return render(request, template, context, status=status)

    return show(request)


def describe_client(client: Any, return_address: str) -> dict[str, Any]:
    """Return what people must know of a client before they allow it anything."""
    return {
        "client": client,
        "client_host": client.host_at(return_address),
        "return_address": return_address,
        "is_loopback": return_addresses.is_loopback(return_address),
    }


def return_to_client(
    authorization: AuthorizationRequest, answer: list[tuple[str, str]]
) -> HttpResponse:
    state = [("state", authorization.state)] if authorization.state else []
    return HttpResponseRedirect(locate(authorization.return_address, [*answer, *state]))


def locate(return_address: str, answer: list[tuple[str, str]]) -> str:
    """Return where the client gets the answer, with `iss`, which tells who gives it (RFC 9207)."""
    return return_addresses.add_answer(return_address, [*answer, ("iss", issuer())])
