"""The figures at the head of the page: calls by day, what was written and issued, refusals."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.text import capfirst

from agent_access.models import Connection
from agent_access.timeline.counting import (
    MOST_COUNTED,
    Refusals,
    count_calls,
    count_refusals,
    read_written,
)
from agent_access.timeline.reasons import explain_refusal
from invoicing.access import Permission
from invoicing.models import Document, User
from invoicing.paper.formats import format_day, time_zone_of
from invoicing.web.activity.address import Chosen
from invoicing.web.home.chart import draw_bars

DAYS = 14
REFUSALS_SHOWN = 6
WRITTEN, ISSUED = "drafts.create", "documents.issue"


def describe_figures(chosen: Chosen, connection_ids: Sequence[UUID] | None) -> dict[str, Any]:
    """Describe fourteen days of these connections, or of all, whatever kind and outcome."""
    zone = time_zone_of(chosen.viewer)
    today = timezone.now().astimezone(zone).date()
    days = [today - timedelta(days=ago) for ago in reversed(range(DAYS))]
    mornings = [_morning(day, zone) for day in days]
    calls = count_calls(connection_ids, mornings=mornings)
    return {
        "days": DAYS,
        "calls": sum(calls),
        "bars": draw_bars(calls),
        "rows": [
            {"day": format_day(day), "calls": count} for day, count in zip(days, calls, strict=True)
        ],
        **_describe_written(chosen, connection_ids, since=mornings[0]),
        **_describe_refusals(chosen, connection_ids, since=mornings[0]),
    }


def _morning(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time.min, zone)


def _describe_written(
    chosen: Chosen, connection_ids: Sequence[UUID] | None, *, since: datetime
) -> dict[str, Any]:
    """Count the records that were written and issued, as far as the viewer may know of them."""
    read = read_written(connection_ids, since=since)
    ids = {record_id for _, record_id in read if record_id}
    customers = _find_customers(chosen.viewer, ids)
    known = ids if chosen.sees_all else customers.keys()
    written = {pk for tool, pk in read if tool == WRITTEN and pk in known}
    issued = {pk for tool, pk in read if tool == ISSUED and pk in known}
    return {
        "written": len(written),
        "issued": len(issued),
        "written_for": len({customers[pk] for pk in written if pk in customers}),
        "issued_for": len({customers[pk] for pk in issued if pk in customers}),
        "is_cut": len(read) == MOST_COUNTED,
    }


def _find_customers(viewer: User, ids: set[UUID]) -> dict[UUID, UUID]:
    """Return the customer of each of these documents that the viewer sees."""
    if not viewer.has_perm(Permission.VIEW_DOCUMENT):
        return {}
    visible = Document.objects.visible_to(viewer).filter(pk__in=ids)
    return dict(visible.values_list("pk", "customer_id"))


def _describe_refusals(
    chosen: Chosen, connection_ids: Sequence[UUID] | None, *, since: datetime
) -> dict[str, Any]:
    found = count_refusals(connection_ids, since=since)
    refused = sum(each.count for each in found)
    return {
        "refused": refused,
        "is_refused_cut": refused == MOST_COUNTED,
        "refusals": [_describe_refusal(each, chosen) for each in found[:REFUSALS_SHOWN]],
        "more_refusals": max(len(found) - REFUSALS_SHOWN, 0),
    }


def _describe_refusal(refusals: Refusals, chosen: Chosen) -> dict[str, Any]:
    connection: Connection | None = chosen.connection
    person = connection.user if connection else chosen.person
    is_own = person == chosen.viewer if chosen.sees_all else True
    reason = explain_refusal(
        refusals.code, is_own=is_own, tool=refusals.action, connection=connection
    )
    return {
        "tool": refusals.action,
        "count": refusals.count,
        "words": capfirst(str(reason.words)),
        "advice": reason.advice,
        "href": chosen.query(kind=refusals.action, outcome=refusals.code),
    }
