"""The owner's switch of browser sign-in, for scripts."""

from argparse import ArgumentParser
from typing import Any

from typing_extensions import override

from agent_access.models.settings import AccessSettings
from agent_access.operator_command import OperatorCommand
from agent_access.switches import turn_sign_in


class Command(OperatorCommand):
    help = "Turns browser sign-in on or off (off ends all connections that were made by it)."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("state", choices=("on", "off"))

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        if options["state"] == "off":
            self.stdout.write(
                f"Browser sign-in is off. Connections ended: {turn_sign_in(on=False)}."
            )
            return
        turn_sign_in(on=True)
        is_on = AccessSettings.read().access_on
        rest = "" if is_on else " It works as soon as agent access is on too."
        self.stdout.write(f"Browser sign-in is on.{rest}")
