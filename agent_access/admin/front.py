"""The section's front page: the state of agent access, its switches, and a way to stop it all."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from typing_extensions import override

from agent_access import approvers, discovery, waiting
from agent_access.admin.owners import FORM_METHODS, OwnersModelAdmin, owners_act
from agent_access.admin.states import tell_ended
from agent_access.admin.switches import (
    Switch,
    find_switch,
    main_switches,
    module_switches,
    turn_everything_off,
)
from agent_access.admin_site import FRONT_PAGE
from agent_access.confirming import NotConfirmedError, ask, confirm
from agent_access.connections import live_connections
from agent_access.models.settings import AccessSettings

NAMES_SHOWN = 20


@admin.register(AccessSettings)
class SwitchesAdmin(OwnersModelAdmin):
    position = 1
    purposes = {
        "agent_access_accesssettings_changelist": gettext_lazy(
            "Whether agents get in at all, what they may use, and how to stop them all."
        ),
        "agent_access_accesssettings_switch": gettext_lazy(
            "Turns a part of agent access on or off, after saying what that does."
        ),
    }

    @override
    def get_urls(self) -> list[URLPattern]:
        return [
            self.page("", self.show_front, "changelist"),
            self.page("stop/", self.stop, "stop", methods=("POST",)),
            self.page("<slug:name>/", self.turn, "switch", methods=FORM_METHODS),
        ]

    def show_front(self, request: HttpRequest) -> HttpResponse:
        settings = AccessSettings.read()
        context = {
            "title": _("Agent access"),
            "access_on": settings.access_on,
            "live": live_connections().count(),
            "switches": _describe(main_switches(), settings),
            "modules": _describe(module_switches(), settings),
            "missed": _count_missed(),
            **discovery.tell_addresses(),
        }
        return self.show(request, "front", context)

    def stop(self, request: HttpRequest) -> HttpResponse:
        """Turn everything off in one step; the button is on several pages."""
        with owners_act(request) as owner:
            was_on = AccessSettings.read().access_on
            ended = turn_everything_off(by=owner)
        if was_on:
            said = _("All agents are stopped.")
            messages.success(request, f"{said} {tell_ended(ended)}")
        else:
            messages.success(request, _("Agent access was off already."))
        return redirect(FRONT_PAGE)

    def turn(self, request: HttpRequest, name: str) -> HttpResponse:
        """Ask before something is turned on or off (GET), and turn it (POST)."""
        switch = find_switch(name)
        if switch is None:
            raise Http404
        if request.method == "POST" and request.POST.get("state") in {"on", "off"}:
            return self._turn(request, switch, on=request.POST["state"] == "on")
        if not switch.is_on(AccessSettings.read()):
            return self._ask_to_turn_on(request, switch)
        return self._ask(request, switch)

    def _ask_to_turn_on(self, request: HttpRequest, switch: Switch) -> HttpResponse:
        title = _("Turn on: %(switch)s") % {"switch": switch.label}
        context = {"title": title, "switch": switch, "confirmation": ask(request)}
        return self.show(request, "turn_on", context)

    def _ask(self, request: HttpRequest, switch: Switch) -> HttpResponse:
        ending = switch.ends().select_related("user").order_by("-id")
        count = ending.count()
        context = {
            "title": switch.question,
            "switch": switch,
            "count": count,
            "ending": ending[:NAMES_SHOWN],
            "more": max(0, count - NAMES_SHOWN),
        }
        return self.show(request, "turn_off", context)

    def _turn(self, request: HttpRequest, switch: Switch, *, on: bool) -> HttpResponse:
        if on:
            try:
                confirm(request)
            except NotConfirmedError as refusal:
                return refusal.mark(self._ask_to_turn_on(request, switch))
        with owners_act(request) as owner:
            ended = switch.turn(on=on, by=owner)
        said = (_("%(switch)s is on.") if on else _("%(switch)s is off.")) % {
            "switch": switch.label
        }
        messages.success(request, f"{said} {tell_ended(ended)}" if ended else said)
        return redirect(FRONT_PAGE)


def _count_missed() -> list[tuple[Any, int]]:
    """Return who did not decide in time lately, and how often: most often first."""
    counts: Counter[Any] = Counter()
    for count in waiting.missed:
        counts.update(count(timezone.now() - waiting.MISSED_FOR))
    most = counts.most_common(NAMES_SHOWN)
    people = approvers.find_people(key for key, _ in most)
    return [(people[key], count) for key, count in most if key in people]


def _describe(switches: Iterable[Switch], settings: AccessSettings) -> list[dict[str, Any]]:
    return [{"switch": switch, "is_on": switch.is_on(settings)} for switch in switches]
