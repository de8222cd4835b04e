"""Access and refresh tokens: their forms, their lifetimes, and the connections behind them."""

import re
from datetime import timedelta
from typing import Any

from django.utils import timezone

from agent_access.callers import Caller, find_caller
from agent_access.credentials import RANDOM_PART, digest_credential, make_secret
from agent_access.models.connections import Connection
from agent_access.oauth.models import AccessToken

ACCESS_PREFIX = "iva_"
REFRESH_PREFIX = "ivr_"
ACCESS_TOKEN = re.compile(ACCESS_PREFIX + RANDOM_PART)

CODE_LIFETIME = timedelta(minutes=5)
ACCESS_TOKEN_LIFETIME = timedelta(hours=1)


def make_code() -> str:
    return make_secret("")


def make_access_token(request: Any) -> str:
    return make_secret(ACCESS_PREFIX)


def make_refresh_token(request: Any) -> str:
    return make_secret(REFRESH_PREFIX)


def seconds_to_live(connection: Connection) -> int:
    """Return how long a new access token lives: an hour, and never past its connection."""
    rest = connection.expires_at - timezone.now()
    return int(min(ACCESS_TOKEN_LIFETIME, rest).total_seconds())


def find_by_access_token(token: str) -> Caller | None:
    """Return the caller of a token that has not expired, with no more than the token's scopes.

    A refresh may have asked for less than the owner allowed (RFC 6749 section 6).
    """
    live = AccessToken.objects.filter(
        token_checksum=digest_credential(token), expires__gt=timezone.now()
    )
    found = live.values_list("connection_id", "scope").first()
    if found is None:
        return None
    connection_id, scopes = found
    caller = find_caller(id=connection_id)
    if caller is not None:
        granted = caller.connection.grants
        caller.connection.grants = [grant for grant in granted if grant in scopes.split()]
    return caller
