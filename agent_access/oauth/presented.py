"""What a token request presents: a code or refresh token, and with it a connection.

A secret that is presented a second time is known to two parties, so its connection is revoked
whatever else is wrong with the request: another client, no resource, a wrong verifier (RFC 6749
sections 4.1.2 and 10.5; RFC 9700 section 4.14.2). Nobody who has not seen it can cause that.
"""

from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import parse_qsl

from agent_access import audit
from agent_access.audit import Actor, Origin
from agent_access.connections import revoke_connection
from agent_access.credentials import digest_credential
from agent_access.models.connections import Connection, RevokedReason
from agent_access.oauth.models import Grant, RefreshToken

Held = TypeVar("Held", Grant, RefreshToken)


@dataclass(frozen=True)
class Presented:
    """The code and the refresh token of a request, read under the lock of all who use them."""

    code: Grant | None = None
    refresh_token: RefreshToken | None = None

    @property
    def connection(self) -> Connection | None:
        held = self.code or self.refresh_token
        return held.connection if held else None


def read_presented(form: str) -> Presented:
    """Return the code and refresh token that a clean form presents, if they exist, locked."""
    sent = {name: digest_credential(value) for name, value in parse_qsl(form)}
    return Presented(
        code=_find_locked(Grant, code=sent.get("code", "")),
        refresh_token=_find_locked(RefreshToken, token_checksum=sent.get("refresh_token", "")),
    )


def revoke_reused(presented: Presented, *, origin: Origin) -> RevokedReason | None:
    """Revoke the connection of a secret that was used before; return why, if there was one."""
    code, token = presented.code, presented.refresh_token
    reused = []
    if code is not None and code.consumed_at is not None:
        reused.append((code.connection_id, RevokedReason.CODE_REUSE))
    if token is not None and token.revoked is not None:
        reused.append((token.connection_id, RevokedReason.REFRESH_REUSE))
    for connection_id, reason in reused:
        revoke_connection(connection_id, reason=reason, by=Actor(origin))
    return reused[0][1] if reused else None


def _find_locked(model: type[Held], **lookup: str) -> Held | None:
    """Return the row, read under the lock that every use of a code or token takes."""
    if not model.objects.filter(**lookup).exists():
        return None
    audit.lock_administration()
    return model.objects.select_related("connection__user").filter(**lookup).first()
