"""The page that connects a client, and the answer to whether it has called yet."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from agent_access.activity import reason_of
from agent_access.audit import CALL_TRANSPORTS, OK
from agent_access.models import AccessSettings, AuditEvent, Connection
from agent_access.translations import Text
from invoicing.access import APPROVE_PERMISSIONS
from invoicing.application_url import loopback_address
from invoicing.models import User
from invoicing.paper.formats import format_clock
from invoicing.quickstart.authority import find_authority
from invoicing.rights import is_owner, people_who_may
from invoicing.visits import mark_as_polling
from invoicing.web.pages import SignedInRequest, page
from invoicing.web.setup.clients import CLIENTS, Block, find_client, line_of_trust
from invoicing.web.setup.not_yours import show_not_yours

# Those of moments that a page can have been opened at: no time zone leads beyond the calendar.
YEARS = range(2000, 9000)


@page()
def connect(request: SignedInRequest) -> HttpResponse:
    """Show the lines of one client, and whether an agent has called since the page was opened."""
    if not is_owner(request.user):
        return show_not_yours(request)
    client = find_client(request.GET.get("client", ""))
    since = _read_since(request) or timezone.now()
    authority = find_authority(settings.VAR_DIR, base_url=settings.BASE_URL)
    access = AccessSettings.read()
    context = {
        "clients": [{"client": each, "is_current": each is client} for each in CLIENTS],
        "client": client,
        "sign_in": _fill(client.sign_in),
        "pasted": _fill(client.pasted),
        "trust": line_of_trust(client, authority),
        "is_out_of_reach": client.is_remote and loopback_address(settings.BASE_URL) is not None,
        "access_on": access.access_on,
        "sign_in_on": access.browser_sign_in_on,
        "nobody_approves": not people_who_may(APPROVE_PERMISSIONS).exists(),
        "since": since.isoformat(),
        **_tell_call(request.user, since),
    }
    return render(request, "invoicing/connect.html", context)


@page()
def tell_first_call(request: SignedInRequest) -> HttpResponse:
    """Answer the open page: {"came": whether a call came since, "told": what to say}."""
    since = _read_since(request)
    if since is None or not is_owner(request.user):
        raise Http404
    mark_as_polling()
    return JsonResponse(_tell_call(request.user, since))


def _fill(blocks: Any) -> list[tuple[Block, str]]:
    return [(each, each.fill(settings.BASE_URL)) for each in blocks]


def _read_since(request: SignedInRequest) -> datetime | None:
    """Return the moment in the address, if it is one with a time zone."""
    try:
        since = parse_datetime(request.GET.get("since", ""))
    except ValueError:
        return None
    return since if since and since.tzinfo and since.year in YEARS else None


def _tell_call(user: User, since: datetime) -> dict[str, Any]:
    """Return whether a call came since then, and in words what came."""
    calls = AuditEvent.objects.filter(
        occurred_at__gt=since, transport__in=CALL_TRANSPORTS, connection_id__isnull=False
    )
    call = calls.order_by("occurred_at").first()
    if call is None or call.connection_id is None:
        return {"came": False, "told": _tell_waiting(since)}
    connection = Connection.objects.get(pk=call.connection_id)
    values: dict[str, Text] = {
        "name": connection.name,
        "tool": call.action,
        "time": format_clock(call.occurred_at, user),
    }
    if call.outcome == OK:
        return {
            "came": True,
            "told": _("The first call arrived: %(name)s called %(tool)s at %(time)s.") % values,
        }
    values["reason"] = reason_of(call.outcome).words
    told = _(
        "The first call arrived: %(name)s called %(tool)s at %(time)s, and was refused. %(reason)s"
    )
    return {"came": True, "told": told % values}


def _tell_waiting(since: datetime) -> str:
    made = Connection.objects.filter(created_at__gt=since).order_by("-created_at").first()
    if made is None:
        return _("Waiting for the first call …")
    return _("%(name)s is connected. Waiting for its first call …") % {"name": made.name}
