"""The originals of a period as files, such as for an auditor or an archive."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typing_extensions import override

from agent_access.audit import OPERATOR
from invoicing.administration.acts import locked_administration, record_admin_act
from invoicing.management.period_command import PeriodCommand
from invoicing.models import Original
from invoicing.originals.folders import write_originals
from invoicing.originals.index import INDEX_NAME


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
    def handle_originals(
        self, originals: Iterator[Original], failures: list[str], **options: Any
    ) -> None:
        options["into"].mkdir(exist_ok=True)
        with locked_administration():
            period = f"{options['first']} to {options['last']}"
            record_admin_act("originals:exported", target=period, actor=OPERATOR)
        write_originals(originals, options["into"], failures)
        self.stdout.write(f"The originals are in {options['into']}, which {INDEX_NAME} lists.")
