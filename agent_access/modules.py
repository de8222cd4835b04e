"""Modules: groups of tools that the owner turns off without ending a connection."""

from django.db import transaction

from agent_access.audit import OPERATOR, Actor, record_act
from agent_access.models.settings import AccessSettings
from agent_access.tools import registry


class UnknownModuleError(Exception):
    """No registered tool belongs to a module of this name."""


@transaction.atomic
def turn_module(module: str, *, on: bool, by: Actor = OPERATOR) -> None:
    """Let the module's tools answer, or hide them from every connection.

    Raises UnknownModuleError for a name that no tool has.
    """
    if module not in registry.modules:
        raise UnknownModuleError(module)
    modules_off = set(AccessSettings.lock().modules_off)
    if on == (module not in modules_off):
        return
    AccessSettings.objects.update(modules_off=sorted(modules_off ^ {module}))
    action = "module:turned_on" if on else "module:turned_off"
    record_act(action, by, target=module)
