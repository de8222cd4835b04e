"""The page, and the parts of it that its script asks for while it is open."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.timezone import get_current_timezone_name
from django.views.decorators.http import conditional_page

from agent_access.models import Connection
from agent_access.timeline.reading import read_page
from agent_access.verification import read_archived_before
from invoicing.paper.formats import format_clock, format_day, local_date
from invoicing.web.activity.address import (
    BEFORE,
    Chosen,
    describe_chips,
    describe_connection,
    read_address,
)
from invoicing.web.activity.figures import describe_figures
from invoicing.web.activity.telling import describe_days
from invoicing.web.pages import SignedInRequest, page

# The script asks so often, and for so long, while the page is in front.
ASKED_EVERY_SECONDS = 15
ASKED_FOR_MINUTES = 30


@page()
def show_activity(request: SignedInRequest) -> HttpResponse:
    """Show what agents did: to the owner of all, to everybody else of their own."""
    chosen = read_address(request.user, request.GET)
    context = {
        **describe_activity(chosen),
        "chips": describe_chips(chosen),
        "chosen": chosen,
        "subject": _name(chosen),
        "is_filtered": bool(chosen.parameters()),
        "has_connections": _has_connections(chosen),
        "every": ASKED_EVERY_SECONDS,
        "minutes": ASKED_FOR_MINUTES,
        "rows_href": f"{reverse('activity-rows')}{chosen.query()}",
        "newest_href": chosen.query(),
    }
    return render(request, "invoicing/activity.html", context)


@page()
@conditional_page
def show_rows(request: SignedInRequest) -> HttpResponse:
    """Answer with the parts that change, or 304 to who has them as they are."""
    chosen = read_address(request.user, request.GET)
    return render(request, "invoicing/activity_parts.html", describe_activity(chosen))


def describe_activity(chosen: Chosen) -> dict[str, Any]:
    """Describe what changes while the page is open."""
    asked = chosen.ask()
    found = read_page(asked, before=chosen.before)
    before = found.next_before.isoformat() if found.next_before else ""
    archived = read_archived_before()
    return {
        "figures": describe_figures(chosen, asked.connection_ids),
        "days": describe_days(chosen.viewer, found.acts, sees_all=chosen.sees_all),
        "next_href": chosen.query(**{BEFORE: before}) if before else "",
        "is_first": chosen.before is None,
        "before": format_clock(chosen.before, chosen.viewer) if chosen.before else "",
        "archived_before": format_day(local_date(archived, chosen.viewer)) if archived else "",
        "sees_all": chosen.sees_all,
        "zone": get_current_timezone_name(),
        "is_narrowed": bool(chosen.kind or chosen.outcome),
    }


def _name(chosen: Chosen) -> str:
    """Return whose activity it is, for the title; empty for that of all."""
    if chosen.connection:
        return describe_connection(chosen.connection, chosen.viewer, with_person=chosen.sees_all)
    return chosen.person.name if chosen.person else ""


def _has_connections(chosen: Chosen) -> bool:
    reach = Connection.objects.all()
    return (reach if chosen.sees_all else reach.filter(user=chosen.viewer)).exists()
