"""The metadata documents: of the protected resource (RFC 9728) and of this server (RFC 8414)."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from agent_access import conf
from agent_access.addresses import url_of
from agent_access.audit import Origin
from agent_access.calls import dump_json
from agent_access.discovery import resource
from agent_access.oauth.client_metadata import GRANT_TYPES, PUBLIC, RESPONSE_TYPES
from agent_access.oauth.endpoints import machine_endpoint
from agent_access.oauth.paths import AUTHORIZE, REGISTER, REVOKE, TOKEN, issuer
from agent_access.tools import registry


@machine_endpoint("GET")
def describe_resource(request: HttpRequest, origin: Origin) -> HttpResponse:
    return _answer(
        {
            "resource": resource(),
            "authorization_servers": [issuer()],
            "scopes_supported": registry.scopes,
            "bearer_methods_supported": ["header"],
            "resource_name": conf.policy().service().title,
        }
    )


@machine_endpoint("GET")
def describe_server(request: HttpRequest, origin: Origin) -> HttpResponse:
    return _answer(
        {
            "issuer": issuer(),
            "authorization_endpoint": url_of(AUTHORIZE),
            "token_endpoint": url_of(TOKEN),
            "registration_endpoint": url_of(REGISTER),
            "revocation_endpoint": url_of(REVOKE),
            "scopes_supported": registry.scopes,
            "response_types_supported": RESPONSE_TYPES,
            "response_modes_supported": ["query"],
            "grant_types_supported": GRANT_TYPES,
            "token_endpoint_auth_methods_supported": [PUBLIC],
            "revocation_endpoint_auth_methods_supported": [PUBLIC],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": True,
        }
    )


def _answer(document: dict[str, Any]) -> HttpResponse:
    return HttpResponse(dump_json(document), content_type="application/json")
