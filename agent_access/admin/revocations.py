"""Why and when a connection was revoked, and what to do about it, in words for the owner."""

from django.utils.timezone import localtime

from agent_access.audit import REVOKED
from agent_access.models.audit import ADMINISTRATION, AuditEvent
from agent_access.models.connections import Connection, ConnectionKind, RevokedReason

# How to give access again to a program with a connection of each kind.
RENEWALS = {
    ConnectionKind.PASTED: "make a new connection",
    ConnectionKind.BROWSER: "let the client sign in again",
}

ADVICE = {
    RevokedReason.OWNER_REVOKED: "If the program needs access again, {renew}.",
    RevokedReason.ACCESS_OFF: (
        "Turning agent access on does not bring it back: if the program needs access again,"
        " {renew}."
    ),
    RevokedReason.BROWSER_SIGN_IN_OFF: (
        "Turning browser sign-in on does not bring it back: if the program needs access again,"
        " {renew}."
    ),
    RevokedReason.SESSIONS_ENDED: (
        "That is so after a new password or other permissions. If the program should still act for"
        " this person, {renew}."
    ),
    RevokedReason.USER_DEACTIVATED: (
        "If the program needs access again, {renew} and choose another person."
    ),
    RevokedReason.USER_BECAME_GUEST: (
        "No program acts for guests. If it needs access again, {renew} and choose another person."
    ),
    RevokedReason.OWNER_CHANGED: (
        "It was the former owner who allowed it. If you allow it too, {renew}."
    ),
    RevokedReason.APPLICATION_URL_CHANGED: "Give the program the new address, and {renew}.",
    RevokedReason.CODE_REUSE: (
        "Either the client sent it again, or somebody else has seen it. If you trust the client,"
        " {renew}. If this happens again, tell its developers to exchange each code once."
    ),
    RevokedReason.REFRESH_REUSE: (
        "Either the client refreshed twice at once or sent the same token again, or somebody else"
        " has it. If you trust the client, {renew}. If this happens again, tell its developers to"
        " keep the newest refresh token and to send one refresh at a time."
    ),
    RevokedReason.CLIENT_REVOKED: "If it needs access again, {renew}.",
}


def describe_ending(connection: Connection, reason: RevokedReason | None) -> str:
    """Return why the connection ended before its time, if it did, and what to do.

    The reason may be one that is recorded only when the connection is used next.
    """
    if reason is None:
        return describe_revocation(connection)
    told = describe_revocation(connection) or f"{reason.label}."
    return f"{told} {ADVICE[reason].format(renew=RENEWALS[ConnectionKind(connection.kind)])}"


def describe_revocation(connection: Connection) -> str:
    """Return a sentence such as "A refresh token was used twice at 12:03 CET on ... from ...".

    The address is that of the request by which it was revoked. Empty if it was not.
    """
    if connection.revoked_at is None:
        return ""
    endings = AuditEvent.objects.filter(
        chain=ADMINISTRATION, action=REVOKED, connection_id=connection.id
    )
    event = endings.order_by("occurred_at").first()
    place = f" from {event.client_address}" if event and event.client_address else ""
    moment = localtime(connection.revoked_at)
    reason = RevokedReason(connection.revoked_reason).label
    return f"{reason} at {moment:%H:%M %Z} on {moment:%Y-%m-%d}{place}."


def describe_detail(event: AuditEvent) -> str:
    """Return the event's detail; for a revocation, the reason in words."""
    if event.action == REVOKED and event.detail in RevokedReason.values:
        return RevokedReason(event.detail).label
    return event.detail
