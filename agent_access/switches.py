"""The owner's switches: agent access, browser sign-in, and each module of tools."""

from django.db import transaction
from django.db.models import QuerySet

from agent_access.audit import OPERATOR, Actor, record_act
from agent_access.connections import live_connections, revoke_connections, wait_for_calls
from agent_access.models import AccessSettings, Connection, ConnectionKind, RevokedReason
from agent_access.tools import registry


class UnknownModuleError(Exception):
    """No registered tool belongs to a module of this name."""


def turn_access(*, on: bool, by: Actor = OPERATOR) -> int:
    """Let agents in, or keep every agent out; return how many live connections ended."""
    connections = Connection.objects.all()
    return _turn("access", connections, RevokedReason.ACCESS_OFF, on=on, by=by)


def turn_sign_in(*, on: bool, by: Actor = OPERATOR) -> int:
    """Let clients ask, or answer no client any more; return how many live connections ended."""
    connections = Connection.objects.filter(kind=ConnectionKind.BROWSER)
    return _turn("browser_sign_in", connections, RevokedReason.BROWSER_SIGN_IN_OFF, on=on, by=by)


@transaction.atomic
def _turn(
    name: str, connections: QuerySet[Connection], reason: RevokedReason, *, on: bool, by: Actor
) -> int:
    """Turn the switch; off revokes the connections, even if it was off before, on revives none."""
    was_on = getattr(AccessSettings.lock(), f"{name}_on")
    AccessSettings.objects.update(**{f"{name}_on": on})
    ended = 0 if on else revoke_connections(connections, reason=reason, by=by)
    if on != was_on:
        record_act(f"{name}:turned_{'on' if on else 'off'}", by)
    return ended


@transaction.atomic
def turn_module(module: str, *, on: bool, by: Actor = OPERATOR) -> int:
    """Let the module's tools answer, or hide them from every connection; return 0: none ends.

    Writes in flight commit before they are hidden, or not at all; a read in flight is answered.
    Raises UnknownModuleError for a name that no tool has.
    """
    if module not in registry.modules:
        raise UnknownModuleError(module)
    modules_off = set(AccessSettings.lock().modules_off)
    if on == (module in modules_off):
        AccessSettings.objects.update(modules_off=sorted(modules_off ^ {module}))
        record_act(f"module:turned_{'on' if on else 'off'}", by, target=module)
        if not on:
            wait_for_calls(live_connections())
    return 0
