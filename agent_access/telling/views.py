"""The page on which people choose how they are told, and the script that shows notifications.

A project routes to them through `urls`, or through its own decorators under the same names, and
may show `describe` with "agent_telling/section.html" on a page of its own that it names `page`.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from http import HTTPStatus
from typing import Any
from uuid import UUID

import orjson
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.dateformat import format as format_date
from django.utils.timezone import localtime
from django.utils.translation import pgettext
from django.views.decorators.http import require_safe

from agent_access import approvers, conf
from agent_access.models import Connection
from agent_access.telling.devices import DeviceError, add_device, forget_device
from agent_access.telling.forms import ChoicesForm
from agent_access.telling.models import Device
from agent_access.telling.preferences import find_muted, mail_address, mute, unmute
from agent_access.telling.sending import public_key
from agent_access.telling.trying import send_test
from agent_access.telling.user_agents import name_browser
from agent_access.web_sessions import has_session

PAGE = "agent_telling:page"
# The query parameter by which the page says that something was saved just now.
SAVED = "saved"

View = Callable[..., HttpResponse]


def describe(
    request: HttpRequest,
    *,
    form: ChoicesForm | None = None,
    problem: str = "",
    said: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what "agent_telling/section.html" needs as `telling`.

    `problem` is why something was refused, and `said` what came of a test.
    """
    person = request.user
    devices = Device.objects.filter(person=person.pk)
    muted = Connection.objects.filter(pk__in=find_muted(person.pk))
    return {
        "form": form or ChoicesForm(person=person),
        "push_key": public_key(),
        "sends_mail": bool(conf.mail_from()),
        "address": mail_address(person),
        "zone": str(conf.policy().time_zone(person)),
        "devices": [_describe_device(each) for each in devices.order_by("pk")],
        "muted": muted.order_by("name", "pk"),
        "is_owner": approvers.may_administer(person),
        "is_saved": SAVED in request.GET,
        "problem": problem,
        "said": said,
    }


def _describe_device(device: Device) -> dict[str, Any]:
    return {
        "id": device.pk,
        "name": device.name,
        "service": device.service,
        "added_at": _format_minute(device.added_at),
        "last_told_at": device.last_told_at and _format_minute(device.last_told_at),
        "problem": device.get_problem_display(),
    }


def _format_minute(moment: datetime) -> str:
    return format_date(localtime(moment), pgettext("format of a date", "Y-m-d H:i T"))


def show(request: HttpRequest, *, status: int = HTTPStatus.OK, **told: Any) -> HttpResponse:
    context = {"telling": describe(request, **told), "form": told.get("form")}
    return render(request, "agent_telling/page.html", context, status=status)


def changes(view: View) -> View:
    """Let a view answer POST only, in a web session, and lead all else to the page."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST":  # as after signing in again
            return redirect(PAGE)
        if not has_session(request):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded


def _show_saved(part: str = "told") -> HttpResponse:
    return redirect(f"{reverse(PAGE)}?{SAVED}#{part}")


@changes
def choose(request: HttpRequest) -> HttpResponse:
    form = ChoicesForm(request.POST, person=request.user)
    if form.save():
        return _show_saved()
    return show(request, status=HTTPStatus.UNPROCESSABLE_ENTITY, form=form)


@changes
def add(request: HttpRequest) -> HttpResponse:
    """Add the browser whose script sends its subscription, as JSON."""
    if not conf.web_push_key():
        raise Http404
    name = name_browser(request.headers.get("User-Agent", ""))
    try:
        add_device(request.user, _read(request.POST.get("subscription", "")), name=name)
    except DeviceError as error:
        return show(request, status=HTTPStatus.UNPROCESSABLE_ENTITY, problem=error.told())
    return _show_saved()


def _read(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


@changes
def forget(request: HttpRequest, pk: UUID) -> HttpResponse:
    forget_device(request.user, pk)
    return _show_saved()


@transaction.non_atomic_requests  # what it sends may take seconds
@changes
def try_out(request: HttpRequest) -> HttpResponse:
    """Send a test in each way, and show what happened."""
    return show(request, said=send_test(request.user))


@changes
def mute_connection(request: HttpRequest, pk: UUID) -> HttpResponse:
    mute(request.user, get_object_or_404(Connection, pk=pk, user=request.user.pk).pk)
    return _show_saved("muted")


@changes
def unmute_connection(request: HttpRequest, pk: UUID) -> HttpResponse:
    unmute(request.user, pk)
    return _show_saved()


@require_safe
@login_not_required
def service_worker(request: HttpRequest) -> HttpResponse:
    """Return the script that shows notifications, for all pages below the path of its own."""
    script = render_to_string("agent_telling/service_worker.js")
    return HttpResponse(script, content_type="text/javascript")
