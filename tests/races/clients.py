"""Clients that came by browser: one has tokens, one a code, one was allowed, one only asks."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from agent_access.audit import make_origin
from agent_access.connections import Consent
from agent_access.models import Connection
from agent_access.models.audit import Transport
from agent_access.oauth.asking import Asker, allow, ask, find_asked
from agent_access.oauth.authorization import AuthorizationRequest, make_connection, read_request
from agent_access.oauth.fetching import Document
from agent_access.oauth.models import AccessRequest, Application, Grant
from invoicing.models import User
from tests.oauth.programs import Program, make_program

READ = ("customers:read", "invoices:read")
DAYS = 7
# The address by which a client names itself, and what is found there.
DOCUMENT = "https://named.example/client.json"


@dataclass(kw_only=True)
class Clients:
    """One program with four requests: `pair` and `code` are of connections that it has.

    The refresh token of the pair was given for the `former` one.
    """

    program: Program
    authorization: AuthorizationRequest
    pair: dict[str, Any]
    former: str
    connection: Connection
    code: str
    unused: UUID  # the connection of the code
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

    former = program.exchange(consent(request("pair"))).body["refresh_token"]
    pair = program.refresh(former).body
    connection = Connection.objects.get(client_id=program.client_id)
    allowed = _ask(request("allowed"), dana)
    allow(allowed, owner=owner, scopes=READ, days=DAYS, origin=make_origin(Transport.WEB))
    _age(allowed)
    _make_old_client()
    code = consent(request("code"))
    return Clients(
        program=program,
        authorization=request("new"),
        pair=pair,
        former=former,
        connection=connection,
        code=code,
        unused=Grant.objects.get(consumed_at=None).connection_id,
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


def _make_old_client() -> None:
    """Keep a client of long ago that nobody ever allowed."""
    old = make_program("https://old.example/", name="Old").client_id
    Application.objects.filter(client_id=old).update(created=timezone.now() - timedelta(days=60))


def fetch_document(address: str) -> Document:
    """Stand in for the network, and find the document of a client there."""
    content = {
        "client_id": address,
        "client_name": "Named",
        "redirect_uris": ["https://named.example/back"],
        "token_endpoint_auth_method": "none",
    }
    return Document(body=json.dumps(content).encode(), cache_control="")
