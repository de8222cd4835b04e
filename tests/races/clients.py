"""Clients that came by browser: one has tokens, one a code, one was allowed, one only asks."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from agent_access.audit import make_origin
from agent_access.connections import Consent
from agent_access.models import Connection
from agent_access.models.audit import Transport
from agent_access.oauth.asking import Asker, allow, ask, find_asked
from agent_access.oauth.authorization import AuthorizationRequest, make_connection, read_request
from agent_access.oauth.models import AccessRequest
from invoicing.models import User
from tests.oauth.programs import Program, make_program

READ = ("customers:read", "invoices:read")
DAYS = 7


@dataclass(kw_only=True)
class Clients:
    """One program with four requests: `pair` and `code` are of connections that it has."""

    program: Program
    authorization: AuthorizationRequest
    pair: dict[str, Any]
    connection: Connection
    code: str
    asked: AccessRequest
    allowed: AccessRequest
    allowed_authorization: AuthorizationRequest


def stage_clients(owner: User, dana: User) -> Clients:
    """Register the program, and let the owner and Dana answer it."""
    program = make_program("https://client.example/callback")

    def request(state: str) -> AuthorizationRequest:
        query = program.authorize_path(state=state).partition("?")[2]
        return read_request(query, origin=make_origin(Transport.WEB))

    def consent(authorization: AuthorizationRequest) -> str:
        asked = consent_of(owner, dana, authorization)
        return make_connection(authorization, asked, decided_at=timezone.now())

    pair = program.exchange(consent(request("pair"))).body
    connection = Connection.objects.get(client_id=program.client_id)
    allowed = _ask(request("allowed"), dana)
    allow(allowed, owner=owner, scopes=READ, days=DAYS, origin=make_origin(Transport.WEB))
    _age(allowed)
    return Clients(
        program=program,
        authorization=request("new"),
        pair=pair,
        connection=connection,
        code=consent(request("code")),
        allowed=allowed,
        allowed_authorization=request("allowed"),
        asked=_ask(request("asked"), dana),
    )


def consent_of(owner: User, person: User, authorization: AuthorizationRequest) -> Consent:
    client = authorization.client
    return Consent(
        user=person,
        scopes=READ,
        days=DAYS,
        name=client.name,
        approver=owner,
        client_id=str(client.client_id),
        client_host=authorization.client_host,
    )


def _ask(authorization: AuthorizationRequest, person: User) -> AccessRequest:
    asker = Asker(person=person, session_key="session")
    ask(authorization, asker, scopes=READ, days=DAYS)
    asked = find_asked(authorization, asker)
    assert asked is not None
    return asked


def _age(asked: AccessRequest) -> None:
    """Keep a request of long ago, which may be forgotten."""
    long_ago = timezone.now() - timedelta(days=30)
    AccessRequest.objects.create(
        **{
            name: getattr(asked, name)
            for name in ("person", "client", "request_digest", "return_address", "scopes", "days")
        },
        session_digest="",
        asked_at=long_ago,
        expires_at=long_ago,
        decision=AccessRequest.Decision.WITHDRAWN,
        decided_at=long_ago,
    )
