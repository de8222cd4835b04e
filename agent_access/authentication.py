"""Who calls: the bearer credential of the Authorization header, and nothing else."""

import re
from collections.abc import Callable

from django.http import HttpRequest
from django.utils import timezone

from agent_access import conf
from agent_access.audit import Actor, Origin
from agent_access.callers import Caller, find_caller
from agent_access.connections import revoke_connection
from agent_access.credentials import CREDENTIAL, digest_credential
from agent_access.models.connections import Connection, RevokedReason

# RFC 6750 section 2.1; RFC 9110 section 11.1: the scheme's case does not matter.
BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([!-~]+)")


FindCaller = Callable[[str], Caller | None]

_finders: list[tuple[re.Pattern[str], FindCaller]] = []


def register_bearer(pattern: re.Pattern[str], find: FindCaller) -> None:
    """Register a form of bearer credential, and how to find the caller who holds it."""
    _finders.append((pattern, find))


def bears_credential(request: HttpRequest) -> bool:
    """Return whether the request bears what has the form of a connection's credential.

    It says nothing about whether that is valid. A bearer token of any other form is somebody
    else's.
    """
    return _read_bearer(request) is not None


def identify(request: HttpRequest) -> Caller | None:
    """Return the caller whose credential the request bears, or None."""
    bearer = _read_bearer(request)
    return bearer and bearer[1](bearer[0])


def _read_bearer(request: HttpRequest) -> tuple[str, FindCaller] | None:
    """Return a credential of a registered form, and how to find its caller."""
    match = BEARER.fullmatch(request.META.get("HTTP_AUTHORIZATION", ""))
    if match is None:
        return None
    fitting = (find for pattern, find in _finders if pattern.fullmatch(match[1]))
    return next(((match[1], find) for find in fitting), None)


def still_holds(connection: Connection, *, is_approved: bool, origin: Origin) -> bool:
    """Return whether a connection may be used, whose approver may still approve it, or not.

    If something has ended it since its last use (its user, its approver or the application URL
    changed), it is revoked here, so that the reason is recorded.
    """
    if not connection.is_live(timezone.now()):
        return False
    if reason := find_revocation_reason(connection, is_approved=is_approved):
        revoke_connection(connection.id, reason=reason, by=Actor(origin))
        return False
    return True


def find_revocation_reason(connection: Connection, *, is_approved: bool) -> RevokedReason | None:
    """Return why the connection must be revoked now, or None; its expiry is not looked at."""
    policy = conf.policy()
    if reason := policy.delegate_problem(connection.user):
        return reason
    if connection.session_revision not in policy.session_revisions(connection.user):
        return RevokedReason.SESSIONS_ENDED
    if not is_approved:
        return RevokedReason.OWNER_CHANGED
    if conf.base_url() != connection.base_url:
        return RevokedReason.APPLICATION_URL_CHANGED
    return None


def _find_by_credential(credential: str) -> Caller | None:
    return find_caller(credential_digest=digest_credential(credential))


register_bearer(CREDENTIAL, _find_by_credential)
