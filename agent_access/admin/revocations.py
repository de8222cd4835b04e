"""Why and when a connection was revoked, in words for the owner."""

from django.utils.timezone import localtime

from agent_access.audit import REVOKED
from agent_access.models.audit import ADMINISTRATION, AuditEvent
from agent_access.models.connections import Connection, RevokedReason


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
