"""The page of one connection: what it may do, what it did, and why it ended."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agent_access import conf
from agent_access.admin.client_words import describe_client, describe_renewal
from agent_access.admin.event_names import read_names
from agent_access.admin.moments import format_minute, format_moment
from agent_access.admin.revocations import describe_detail, describe_ending
from agent_access.admin.states import State, Usage
from agent_access.models import ADMINISTRATION, AuditEvent, Connection, ConnectionKind
from agent_access.tools import registry

CALLS_SHOWN = 50
EVENTS_SHOWN = 20
RECEIPTS_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class DescribedGrant:
    """A grant, and those of its tools for which the user now lacks a permission."""

    grant: str
    words: str
    example: str
    refused: list[str]


def describe_connection(connection: Connection, usage: Usage, *, viewer: Any) -> dict[str, Any]:
    """Return the context of the viewer's page, with the latest calls, events and receipts."""
    calls = AuditEvent.objects.filter(chain=str(connection.id)).order_by("-sequence")
    acts = AuditEvent.objects.filter(connection_id=connection.id, chain=ADMINISTRATION)
    acts = acts.order_by("-occurred_at", "-id")
    return {
        "connection": connection,
        "status": usage,
        "ending": describe_ending(connection, usage.reason),
        "facts": _facts_of(connection, usage),
        "grants": list(describe_grants(connection)),
        "calls": _describe_events(calls[:CALLS_SHOWN], viewer),
        "work": _describe_work(connection.id, viewer),
        "client": describe_client(connection),
        "renewal": describe_renewal(connection, is_live=usage.state == State.LIVE),
        "activity": conf.policy().activity_url(connection.id, viewer),
        "work_page": conf.policy().records_url(connection.id, viewer),
        "events": _describe_events(acts[:EVENTS_SHOWN], viewer),
        "receipts": _describe_receipts(connection),
    }


def _facts_of(connection: Connection, usage: Usage) -> list[tuple[str, Any]]:
    user = connection.user
    facts: list[tuple[str, Any]] = [
        (_("Acts as"), f"{user} ({user.get_username()})"),
        (_("Kind"), ConnectionKind(connection.kind).label),
        (_("Made"), format_moment(connection.created_at)),
        (_("Expires"), _tell_expiry(connection)),
        (_("Last use"), format_minute(usage.last_used_at, never=_("Never"))),
        (_("Calls in the last day"), str(usage.calls_in_a_day)),
        (_("ID"), connection.id),
    ]
    return facts


def _tell_expiry(connection: Connection) -> str:
    """Return the moment, and the days until then; a part of a day is told as less than one."""
    moment, left = format_moment(connection.expires_at), connection.expires_at - timezone.now()
    if connection.revoked_at is not None or left < timedelta():
        return moment
    if left < timedelta(days=1):
        return _("%(moment)s, less than a day left") % {"moment": moment}
    told = ngettext("%(moment)s, %(days)d day left", "%(moment)s, %(days)d days left", left.days)
    return told % {"moment": moment, "days": left.days}


def describe_grants(connection: Connection) -> Iterator[DescribedGrant]:
    """Yield each grant in words; a single capability of the pilot is a tool's name."""
    terms, user = conf.policy().scopes(), connection.user
    for grant in connection.grants:
        tools = [tool for tool in registry if grant in {tool.scope, tool.name}]
        yield DescribedGrant(
            grant=grant,
            words=str(terms[grant].description) if grant in terms else "",
            example=str(terms[grant].example) if grant in terms else "",
            refused=[tool.name for tool in tools if not user.has_perms(tool.permissions)],
        )


def _describe_events(events: Iterable[AuditEvent], viewer: Any) -> list[dict[str, Any]]:
    rows = list(events)
    return [
        {
            "event": event,
            "detail": describe_detail(event),
            "moment": format_moment(event.occurred_at),
            "target": names.target,
            "actor": names.actor,
        }
        for event, names in zip(rows, read_names(rows, viewer=viewer), strict=True)
    ]


def _describe_work(connection_id: UUID, viewer: Any) -> list[dict[str, Any]]:
    work = conf.policy().records_made_by(connection_id, viewer)
    return [{"work": each, "moment": format_minute(each.made_at)} for each in work]


def _describe_receipts(connection: Connection) -> list[dict[str, Any]]:
    latest = connection.receipts.defer("answer").order_by("-created_at", "-id")[:RECEIPTS_SHOWN]
    return [{"receipt": each, "moment": format_moment(each.created_at)} for each in latest]
