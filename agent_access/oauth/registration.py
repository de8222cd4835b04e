"""Dynamic client registration (RFC 7591): public clients only, and no secrets of any kind."""

from http import HTTPStatus
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from agent_access.audit import Actor, Origin, record_act
from agent_access.bodies import parse_json, read_body
from agent_access.calls import dump_json
from agent_access.errors import UnreadableJsonError
from agent_access.oauth import client_metadata
from agent_access.oauth.endpoints import MAX_BODY_BYTES, machine_endpoint
from agent_access.oauth.models import Application
from agent_access.oauth.refusals import INVALID_REQUEST, OAuthRefusalError
from agent_access.oauth.retention import SWEEP, forget_unused_clients


@machine_endpoint("POST", policy="register")
def register(request: HttpRequest, origin: Origin) -> HttpResponse:
    """Answer 201 with what was registered, which may be less than was asked (section 3.2.1)."""
    metadata = client_metadata.read_metadata(_read_object(request))
    forget_unused_clients(SWEEP)
    client = register_client(metadata, origin=origin)
    body = dump_json(_describe(client))
    return HttpResponse(body, status=HTTPStatus.CREATED, content_type="application/json")


def _read_object(request: HttpRequest) -> dict[str, Any]:
    if request.content_type != "application/json":
        raise OAuthRefusalError(
            INVALID_REQUEST,
            "Send the body as application/json.",
            status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        )
    body = read_body(request, limit=MAX_BODY_BYTES)
    try:
        value = parse_json(body)
    except UnreadableJsonError:
        value = None
    if not isinstance(value, dict):
        raise client_metadata.InvalidMetadataError("The body must be a JSON object in UTF-8.")
    return value


@transaction.atomic
def register_client(metadata: client_metadata.ClientMetadata, *, origin: Origin) -> Application:
    """Return a new public client."""
    client = Application.objects.create(
        registration_source=Application.RegistrationSource.DCR, **client_fields(metadata)
    )
    record_registration(client, origin)
    return client


def client_fields(metadata: client_metadata.ClientMetadata) -> dict[str, Any]:
    """Return the columns of a client that its metadata and our rules determine."""
    return {
        "name": metadata.name,
        "redirect_uris": " ".join(metadata.return_addresses),
        "client_type": Application.CLIENT_PUBLIC,
        "authorization_grant_type": Application.GRANT_AUTHORIZATION_CODE,
        # Hashed, a secret that nobody uses would cost a third of a second.
        "client_secret": "",
        "hash_client_secret": False,
    }


def record_registration(client: Application, origin: Origin) -> None:
    record_act("client:registered", Actor(origin), target=client.audit_target)


def _describe(client: Application) -> dict[str, Any]:
    """Return the answer, without null and fractions of a second, which some clients refuse."""
    return {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created.timestamp()),
        "client_name": client.name,
        "redirect_uris": client.return_addresses,
        "token_endpoint_auth_method": client_metadata.PUBLIC,
        "grant_types": client_metadata.GRANT_TYPES,
        "response_types": client_metadata.RESPONSE_TYPES,
    }
