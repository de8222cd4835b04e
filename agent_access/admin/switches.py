"""The owner's switches as the front page shows them: what each does, and what it ends."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from django.db.models import QuerySet
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from agent_access.audit import Actor
from agent_access.connections import live_connections
from agent_access.models import AccessSettings, Connection
from agent_access.switches import turn_access, turn_module
from agent_access.tools import registry
from agent_access.translations import Text


@dataclass(frozen=True, kw_only=True)
class Switch:
    """Something that the owner turns on and off; `name` is a part of URLs.

    `question` asks whether to turn it off.
    `ends` finds the live connections that end when it is turned off; `turn` says how many did.
    """

    name: str
    label: Text
    question: Text
    on_means: Text
    off_means: Text
    is_on: Callable[[AccessSettings], bool]
    ends: Callable[[], QuerySet[Connection]]
    turn: Callable[..., int]


ACCESS = Switch(
    name="access",
    label=_("Agent access"),
    question=_("Turn agent access off?"),
    on_means=_("Agents with a live connection can call the tools."),
    off_means=_(
        "No agent gets access, and every connection ends. Turning it on again restores none."
    ),
    is_on=lambda settings: settings.access_on,
    ends=live_connections,
    turn=turn_access,
)

_switches = [ACCESS]


def register_switch(switch: Switch) -> None:
    """Give the owner another switch beside the main one."""
    _switches.append(switch)


def main_switches() -> list[Switch]:
    """Return the main switch, and those that need it to be on."""
    return list(_switches)


def module_switches() -> Iterator[Switch]:
    for module in registry.modules:
        tools = ", ".join(tool.name for tool in registry if tool.module == module)
        yield Switch(
            name=f"module-{module}",
            label=format_lazy(_("Module {module}"), module=module),
            question=format_lazy(_("Turn module {module} off?"), module=module),
            on_means=format_lazy(
                _("Connections with the grants for it can call {tools}."), tools=tools
            ),
            off_means=_("Its tools are hidden from every agent. No connection ends."),
            is_on=partial(_is_module_on, module),
            ends=Connection.objects.none,
            turn=partial(turn_module, module),
        )


def find_switch(name: str) -> Switch | None:
    every = [*main_switches(), *module_switches()]
    return next((switch for switch in every if switch.name == name), None)


def turn_everything_off(*, by: Actor) -> int:
    """Turn agent access off and all that goes with it; return how many connections ended."""
    return sum(switch.turn(on=False, by=by) for switch in main_switches())


def _is_module_on(module: str, settings: AccessSettings) -> bool:
    return module not in settings.modules_off
