"""The base of commands about the originals of a period."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import date
from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from invoicing.originals.periods import Found, issued_between, originals_of


class PeriodCommand(OperatorCommand):
    """Goes on after an original that fails, and names all of these at its end, with exit code 1."""

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        for option, dest in (("--from", "first"), ("--to", "last")):
            told = f"the {dest} day of issue, such as 2026-12-31"
            parser.add_argument(
                option, dest=dest, type=_day, required=True, metavar="DAY", help=told
            )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        first, last = options["first"], options["last"]
        if last < first:
            raise CommandError("The last day is before the first.")
        failures = self.handle_originals(originals_of(issued_between(first, last)), **options)
        for failure in failures:
            self.stderr.write(failure)
        if failures:
            raise CommandError(f"Originals that failed: {len(failures)}. All others are done.")

    def handle_originals(self, originals: Iterator[Found], **options: Any) -> list[str]:
        """Take the originals, and return a sentence for each that failed."""
        raise NotImplementedError


def _day(text: str) -> date:
    return date.fromisoformat(text)


# In a refusal argparse names the type.
_day.__name__ = "day"
