"""The owner's switches of the modules, for scripts."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from agent_access.switches import UnknownModuleError, turn_module
from agent_access.tools import registry


class Command(OperatorCommand):
    help = "Turns a module on or off (off hides its tools from every agent and ends no connection)."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("module", metavar="MODULE")
        parser.add_argument("state", choices=("on", "off"))

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        module, is_on = options["module"], options["state"] == "on"
        try:
            turn_module(module, on=is_on)
        except UnknownModuleError:
            known = ", ".join(registry.modules)
            raise CommandError(f"There is no such module. The modules are {known}.") from None
        rest = "on." if is_on else "off: its tools are hidden from all agents. No connection ended."
        self.stdout.write(f"The module {module} is {rest}")
