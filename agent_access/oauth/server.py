"""The OAuth 2.1 server: oauthlib's, with codes and refresh tokens only, and with our rules."""

import re
from typing import Any

from oauthlib.oauth2 import WebApplicationServer
from oauthlib.oauth2.rfc6749.errors import (
    CustomOAuth2Error,
    InvalidRequestError,
    UnsupportedGrantTypeError,
    UnsupportedResponseTypeError,
)

from agent_access.audit import Origin
from agent_access.discovery import resource
from agent_access.oauth.presented import Presented
from agent_access.oauth.refusals import INVALID_TARGET
from agent_access.oauth.tokens import make_access_token, make_refresh_token, seconds_to_live
from agent_access.tools import registry

# RFC 7636 section 4.2: the SHA-256 in base64url without padding.
CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")

NOTHING = Presented()


class Server(WebApplicationServer):
    """Made for one request."""

    def __init__(self, origin: Origin, presented: Presented = NOTHING) -> None:
        # The toolkit's validator imports an HTTP client, for which no other call should wait.
        from agent_access.oauth.validator import Validator  # noqa: PLC0415  at the first sign-in

        super().__init__(
            Validator(origin, presented),
            token_generator=make_access_token,
            token_expires_in=lambda request: seconds_to_live(request.connection),
            refresh_token_generator=make_refresh_token,
        )
        self.auth_grant.custom_validators.pre_auth.append(_check_before_consent)
        self.auth_grant.custom_validators.pre_token += [_require_code_grant, _require_resource]
        self.refresh_grant.custom_validators.pre_token.append(_require_resource)


def _check_before_consent(request: Any) -> dict[str, Any]:
    """Refuse before the owner is asked what would fail later; return no more to show them.

    Without the parameter the response mode is `query` for a code, and the client waits for the
    answer in the form that it asked for (OAuth 2.0 Multiple Response Types 2.1). The default method
    of PKCE would be `plain`.
    """
    if request.response_type not in {None, "code"}:
        raise UnsupportedResponseTypeError(request=request)
    if request.response_mode not in {None, "query"}:
        raise InvalidRequestError("Send response_mode=query, or leave it out.", request=request)
    is_s256 = request.code_challenge_method == "S256"
    if not is_s256 or not CHALLENGE.fullmatch(request.code_challenge or ""):
        raise InvalidRequestError("PKCE with S256 is required.", request=request)
    _require_resource(request)
    _ignore_unknown_scopes(request)
    return {}


def _ignore_unknown_scopes(request: Any) -> None:
    """Leave out scopes that we do not have, as RFC 6749 section 3.3 allows.

    Clients ask every server for `offline_access` or `openid`. If none of ours is left, it is as if
    none had been asked for.
    """
    request.scopes = [scope for scope in request.scopes or [] if scope in registry.scopes]
    request.scope = " ".join(request.scopes) or None


def _require_code_grant(request: Any) -> None:
    """Refuse OpenID's alias of it, which oauthlib accepts and the toolkit fails on."""
    if request.grant_type != "authorization_code":
        raise UnsupportedGrantTypeError(request=request)


def _require_resource(request: Any) -> None:
    """Require our own resource, and no other (RFC 8707)."""
    parameters = (request.decoded_body or []) + request.uri_query_params
    if [value for name, value in parameters if name == "resource"] != [resource()]:
        raise CustomOAuth2Error(
            INVALID_TARGET, f"Send resource={resource()}, exactly once.", request=request
        )
