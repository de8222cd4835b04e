"""The originals of a period as files, such as for an auditor or an archive."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.audit import OPERATOR
from invoicing.administration.acts import locked_administration, record_admin_act
from invoicing.management.period_command import PeriodCommand
from invoicing.originals.folders import write_originals
from invoicing.originals.index import INDEX_NAME
from invoicing.originals.periods import Found


class Command(PeriodCommand):
    help = (
        "Writes the originals of a period and an index of them into a folder, after making those"
        " that are not kept yet; it may be broken off."
    )

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--into", type=Path, required=True, metavar="FOLDER")

    @override
    def handle_originals(self, originals: Iterator[Found], **options: Any) -> list[str]:
        try:
            return self._write(originals, **options)
        except OSError as error:
            told = f"{options['into']} cannot be written: {error.strerror}."
            raise CommandError(f"{told} What was done before stays done.") from error

    def _write(self, originals: Iterator[Found], **options: Any) -> list[str]:
        folder = options["into"]
        folder.mkdir(exist_ok=True)
        with locked_administration():
            period = f"{options['first']} to {options['last']}"
            record_admin_act("export:begun", target="originals", actor=OPERATOR, detail=period)
        failures = write_originals(originals, folder)
        self.stdout.write(f"The originals are in {folder}, which {INDEX_NAME} lists.")
        return failures
