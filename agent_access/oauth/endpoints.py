"""What the endpoints for programs have in common: switch, method, limits, bodies, refusals."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse

from agent_access import conf
from agent_access.audit import Origin, make_origin
from agent_access.bodies import read_body
from agent_access.errors import MethodNotAllowedError, NotFoundError
from agent_access.execution import find_tool_error
from agent_access.gate import agents_view, guard
from agent_access.models import AccessSettings, Transport
from agent_access.oauth.basic_scheme import name_client
from agent_access.oauth.parameters import UnreadableParametersError, clean_parameters
from agent_access.oauth.refusals import INVALID_REQUEST, OAuthRefusalError, refuse
from agent_access.request_facts import note
from agent_access.throttling import spend

MAX_BODY_BYTES = 16 * 1024
FORM = "application/x-www-form-urlencoded"

Endpoint = Callable[[HttpRequest, Origin], HttpResponse]
View = Callable[..., HttpResponse]

# Interface: "OAuth token and revoke combined".
QUOTAS = {"register": conf.limit_register, "token": conf.limit_token}


def is_sign_in_on() -> bool:
    """Return whether browser sign-in answers: its own switch and the main one are both on."""
    settings = AccessSettings.read()
    return settings.access_on and settings.browser_sign_in_on


def machine_endpoint(method: str, *, policy: str | None = None) -> Callable[[Endpoint], View]:
    """Make a view of an endpoint: one method, a quota per address, errors in OAuth's form."""

    def decorate(endpoint: Endpoint) -> View:
        @agents_view
        @wraps(endpoint)
        def view(request: HttpRequest, **_: str) -> HttpResponse:
            note(transport=Transport.OAUTH)
            try:
                origin = make_origin(Transport.OAUTH)
                _check(request, origin, method, policy)
                return endpoint(request, origin)
            except OAuthRefusalError as error:
                return refuse(error)
            except Exception as exception:  # noqa: BLE001  the last handler: every failure gets an answer
                return refuse(find_tool_error(exception))

        return view

    return decorate


def _check(request: HttpRequest, origin: Origin, method: str, policy: str | None) -> None:
    guard(request)
    if not is_sign_in_on():
        raise NotFoundError
    if request.method != method:
        raise MethodNotAllowedError([method])
    if policy is not None:
        spend(policy, bucket=origin.client_network, quota=QUOTAS[policy]()).enforce()


def read_form(request: HttpRequest, known: frozenset[str]) -> str:
    """Return the known parameters of a form, encoded; raise OAuthRefusalError, also for a query."""
    if request.content_type != FORM:
        raise OAuthRefusalError(
            INVALID_REQUEST, f"Send the body as {FORM}.", status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        )
    body = read_body(request, limit=MAX_BODY_BYTES)
    if request.META.get("QUERY_STRING"):
        raise OAuthRefusalError(INVALID_REQUEST, "Send the parameters in the body.")
    try:
        return name_client(clean_parameters(body.decode("ascii"), known), request)
    except (UnicodeDecodeError, UnreadableParametersError):
        raise OAuthRefusalError(INVALID_REQUEST, "Send each parameter once, as UTF-8.") from None
