"""The token and revocation endpoints."""

import json
from collections.abc import Mapping
from http import HTTPStatus

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from oauthlib.oauth2 import InvalidGrantError

from agent_access.addresses import url_of
from agent_access.audit import Actor, Origin, record_act
from agent_access.models.connections import Connection, RevokedReason
from agent_access.oauth import parameters
from agent_access.oauth.basic_scheme import CHALLENGE, uses_basic
from agent_access.oauth.endpoints import machine_endpoint, read_form
from agent_access.oauth.paths import REVOKE, TOKEN
from agent_access.oauth.presented import read_presented, revoke_reused
from agent_access.oauth.refusals import HELP
from agent_access.oauth.server import Server
from agent_access.throttling import is_first

REFUSED = "token_request:refused"
NOBODY = "nobody"

# Descriptions of invalid_grant where a second use has just ended the connection.
REUSE_HELP: Mapping[RevokedReason, str] = {
    RevokedReason.CODE_REUSE: (
        "This code was already used, so its connection has ended, and with it all its tokens. Sign"
        " in again, and exchange each code once."
    ),
    RevokedReason.REFRESH_REUSE: (
        "This refresh token was already used, so its connection has ended, and with it all"
        " its tokens. Sign in again; then keep the newest refresh token, and send one refresh at a"
        " time."
    ),
}


@machine_endpoint("POST", policy="token")
def issue_tokens(request: HttpRequest, origin: Origin) -> HttpResponse:
    """Exchange a code or rotate a refresh token; revoke the connection of a reused one."""
    form = read_form(request, parameters.TOKEN)
    with transaction.atomic(durable=True):
        presented = read_presented(form)
        if reason := revoke_reused(presented, origin=origin):
            # Nothing else is done that might fail and roll the revocation back.
            error = InvalidGrantError(REUSE_HELP[reason])
            headers, body, status = error.headers, error.json, HTTPStatus.BAD_REQUEST
        else:
            headers, body, status = Server(origin, presented).create_token_response(
                url_of(TOKEN), body=form
            )
    if status != HTTPStatus.OK:
        # Only now, since the cache that this asks may fail, too.
        _record_refusal(json.loads(body)["error"], presented.connection, origin)
    return _write(request, headers, body, status)


@machine_endpoint("POST", policy="token")
def revoke(request: HttpRequest, origin: Origin) -> HttpResponse:
    """Revoke a token's connection; 200 also for an unknown one (RFC 7009 2.2) or a foreign one."""
    form = read_form(request, parameters.REVOKE)
    with transaction.atomic(durable=True):
        answer = Server(origin).create_revocation_response(url_of(REVOKE), body=form)
    return _write(request, *answer)


def _record_refusal(error: str, connection: Connection | None, origin: Origin) -> None:
    """Audit one refusal a minute for each connection and error, and one for all strangers together.

    Anybody can send invented codes and tokens, and must not make the audit grow by them.
    """
    bucket = f"{connection.id} {error}" if connection else NOBODY
    if is_first("token_refusal", bucket=bucket):
        connection_id = connection.id if connection else None
        with transaction.atomic():
            record_act(REFUSED, Actor(origin), connection_id=connection_id, outcome=error)


def _write(
    request: HttpRequest, headers: Mapping[str, str], body: str, status: int
) -> HttpResponse:
    text = body if status == HTTPStatus.OK else _explain(json.loads(body))
    response = HttpResponse(text, status=status, content_type="application/json")
    if status == HTTPStatus.UNAUTHORIZED:
        # RFC 6749 section 5.2: the challenge must match the scheme that the client used.
        by_basic = uses_basic(request)
        response["WWW-Authenticate"] = CHALLENGE if by_basic else headers["WWW-Authenticate"]
    return response


def _explain(refusal: Mapping[str, str]) -> str:
    """Return oauthlib's refusal with a description, where it has none of its own."""
    error = refusal["error"]
    description = {"error_description": HELP[error]} if error in HELP else {}
    return json.dumps({"error": error} | description | {**refusal})
