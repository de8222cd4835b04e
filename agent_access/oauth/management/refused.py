"""Commands of the toolkit that would break our rules; ours of the same names replace them."""

from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand


class RefusedCommand(OperatorCommand):
    """Says why not, and what to do instead."""

    instead: str

    @override
    def run_from_argv(self, argv: list[str]) -> None:
        """Ignore the arguments, which are those of the command that this one replaces."""
        super().run_from_argv(argv[:2])

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        raise CommandError(self.instead)
