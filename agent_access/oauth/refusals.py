"""Refusals of the OAuth endpoints, in OAuth's form (RFC 6749 section 5.2)."""

from collections.abc import Mapping
from http import HTTPStatus

import orjson
from django.http import HttpResponse

from agent_access.errors import (
    ForbiddenError,
    MethodNotAllowedError,
    NotFoundError,
    PayloadTooLargeError,
    RateLimitedError,
    ToolError,
    UnavailableError,
)

INVALID_REQUEST = "invalid_request"
INVALID_TARGET = "invalid_target"
TEMPORARILY_UNAVAILABLE = "temporarily_unavailable"

# OAuth's error code and description of shared refusals; RFC 6749 allows no quotes in the latter.
OAUTH_ERRORS: dict[type[ToolError], tuple[str, str]] = {
    ForbiddenError: (
        INVALID_REQUEST,
        "Use HTTPS at the application's own address, without an Origin header.",
    ),
    NotFoundError: ("not_found", "There is nothing here, or browser sign-in is off."),
    MethodNotAllowedError: (INVALID_REQUEST, "This address does not support that method."),
    PayloadTooLargeError: (INVALID_REQUEST, "The body is larger than 16 KiB."),
    RateLimitedError: (TEMPORARILY_UNAVAILABLE, RateLimitedError.message),
    UnavailableError: (TEMPORARILY_UNAVAILABLE, "The service could not finish this request."),
}

# Descriptions of errors for which oauthlib gives only a code.
HELP: Mapping[str, str] = {
    "invalid_client": "Send a client_id that is known here in the form; clients have no secret.",
    "invalid_grant": (
        "The code or refresh token is unknown, expired, used before or another client's, or its"
        " connection has ended; or the redirect_uri or code_verifier does not belong to the code."
        " Ask the owner for access again."
    ),
    "invalid_scope": (
        "The owner did not allow all of these scopes. Refresh without scope for all that are"
        " allowed, or ask the owner for access again."
    ),
    "unsupported_grant_type": "Send authorization_code or refresh_token.",
    "unsupported_response_type": "Send response_type=code.",
}


class OAuthRefusalError(Exception):
    """A refusal with an error code of OAuth; the description is a fixed sentence."""

    def __init__(
        self, error: str, description: str, *, status: HTTPStatus = HTTPStatus.BAD_REQUEST
    ) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.status = status


def refuse(error: ToolError) -> HttpResponse:
    """Return a refusal that all transports share, in OAuth's form."""
    word, description = OAUTH_ERRORS.get(
        type(error), (INVALID_REQUEST, "The request cannot be read.")
    )
    return _write(word, description, error.status, error.headers)


def refuse_request(error: OAuthRefusalError) -> HttpResponse:
    return _write(error.error, error.description, error.status)


def _write(
    error: str, description: str, status: HTTPStatus, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    body = orjson.dumps({"error": error, "error_description": description})
    return HttpResponse(body, status=status, headers=headers, content_type="application/json")
