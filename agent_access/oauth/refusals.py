"""Refusals of the OAuth endpoints, in OAuth's form (RFC 6749 section 5.2)."""

from collections.abc import Mapping
from http import HTTPStatus

import orjson
from django.http import HttpResponse

from agent_access import errors

INVALID_REQUEST = "invalid_request"
INVALID_TARGET = "invalid_target"
TEMPORARILY_UNAVAILABLE = "temporarily_unavailable"

# OAuth's error code and description of shared refusals; RFC 6749 allows no quotes in the latter.
OAUTH_ERRORS: dict[type[errors.ToolError], tuple[str, str]] = {
    errors.ForbiddenError: (
        INVALID_REQUEST,
        "Use HTTPS at the application's own address, without an Origin header.",
    ),
    errors.NotFoundError: ("not_found", "There is nothing here, or browser sign-in is off."),
    errors.MethodNotAllowedError: (INVALID_REQUEST, "This address does not support that method."),
    errors.PayloadTooLargeError: (INVALID_REQUEST, "The body is larger than 16 KiB."),
    errors.RateLimitedError: (TEMPORARILY_UNAVAILABLE, errors.RateLimitedError.message),
    errors.UnavailableError: (
        TEMPORARILY_UNAVAILABLE,
        "The service could not finish this request.",
    ),
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
    """A refusal with an error code of OAuth; the message is a fixed sentence."""

    headers = errors.NO_HEADERS

    def __init__(
        self, code: str, message: str, *, status: HTTPStatus = HTTPStatus.BAD_REQUEST
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


def refuse(error: errors.ToolError | OAuthRefusalError) -> HttpResponse:
    """Return a refusal in OAuth's form: one of its own, or one that all transports share."""
    told = (error.code, error.message)
    if isinstance(error, errors.ToolError):
        told = OAUTH_ERRORS.get(type(error), (INVALID_REQUEST, "The request cannot be read."))
    return HttpResponse(
        orjson.dumps({"error": told[0], "error_description": told[1]}),
        status=error.status,
        headers=error.headers,
        content_type="application/json",
    )
