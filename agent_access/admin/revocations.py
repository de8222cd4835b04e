"""Why and when a connection was revoked, and what to do about it, in words for the owner."""

from django.utils.dateformat import format as format_date
from django.utils.timezone import localtime
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from agent_access.audit import REVOKED
from agent_access.models.audit import ADMINISTRATION, AuditEvent
from agent_access.models.connections import Connection, ConnectionKind, RevokedReason

# How to give access again to a program with a connection of each kind: the end of a sentence.
RENEWALS = {
    ConnectionKind.PASTED: _("make a new connection"),
    ConnectionKind.BROWSER: _("let the client sign in again"),
}

ADVICE = {
    RevokedReason.OWNER_REVOKED: _("If the program needs access again, {renew}."),
    RevokedReason.ACCESS_OFF: _(
        "Turning agent access on does not bring it back: if the program needs access again,"
        " {renew}."
    ),
    RevokedReason.BROWSER_SIGN_IN_OFF: _(
        "Turning browser sign-in on does not bring it back: if the program needs access again,"
        " {renew}."
    ),
    RevokedReason.SESSIONS_ENDED: _(
        "That is so after a new password or other permissions. If the program should still act for"
        " this person, {renew}."
    ),
    RevokedReason.USER_DEACTIVATED: _(
        "If the program needs access again, {renew} and choose another person."
    ),
    RevokedReason.USER_BECAME_GUEST: _(
        "No program acts for guests. If it needs access again, {renew} and choose another person."
    ),
    RevokedReason.OWNER_CHANGED: _(
        "It was the former owner who allowed it. If you allow it too, {renew}."
    ),
    RevokedReason.APPLICATION_URL_CHANGED: _("Give the program the new address, and {renew}."),
    RevokedReason.CODE_REUSE: _(
        "Either the client sent it again, or somebody else has seen it. If you trust the client,"
        " {renew}. If this happens again, tell its developers to exchange each code once."
    ),
    RevokedReason.REFRESH_REUSE: _(
        "Either the client refreshed twice at once or sent the same token again, or somebody else"
        " has it. If you trust the client, {renew}. If this happens again, tell its developers to"
        " keep the newest refresh token and to send one refresh at a time."
    ),
    RevokedReason.CLIENT_REVOKED: _("If it needs access again, {renew}."),
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
    address = event.client_address if event else ""
    moment = localtime(connection.revoked_at)
    told = {
        "reason": RevokedReason(connection.revoked_reason).label,
        "time": format_date(moment, pgettext("format of a date", "H:i T")),
        "date": format_date(moment, pgettext("format of a date", "Y-m-d")),
        "address": address,
    }
    if address:
        return gettext("%(reason)s at %(time)s on %(date)s from %(address)s.") % told
    return gettext("%(reason)s at %(time)s on %(date)s.") % told


def describe_detail(event: AuditEvent) -> str:
    """Return the event's detail; for a revocation, the reason in words."""
    if event.action == REVOKED and event.detail in RevokedReason.values:
        return str(RevokedReason(event.detail).label)
    return event.detail
