"""The token and revocation endpoints."""

from collections.abc import Mapping
from http import HTTPStatus

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from agent_access import conf
from agent_access.audit import Origin
from agent_access.oauth import parameters
from agent_access.oauth.addresses import REVOKE_PATH, TOKEN_PATH
from agent_access.oauth.endpoints import machine_endpoint, read_form
from agent_access.oauth.server import Server


@machine_endpoint("POST", policy="token")
def issue_tokens(request: HttpRequest, origin: Origin) -> HttpResponse:
    """Exchange a code or rotate a refresh token; a refusal may have ended a connection."""
    form = read_form(request, parameters.TOKEN)
    with transaction.atomic(durable=True):
        answer = Server(origin).create_token_response(conf.base_url() + TOKEN_PATH, body=form)
    return _write(*answer)


@machine_endpoint("POST", policy="token")
def revoke(request: HttpRequest, origin: Origin) -> HttpResponse:
    """RFC 7009: 200 also for what is no token, or another client's."""
    form = read_form(request, parameters.REVOKE)
    with transaction.atomic(durable=True):
        answer = Server(origin).create_revocation_response(conf.base_url() + REVOKE_PATH, body=form)
    return _write(*answer)


def _write(headers: Mapping[str, str], body: str, status: int) -> HttpResponse:
    response = HttpResponse(body, status=status, content_type="application/json")
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = headers["WWW-Authenticate"]
    return response
