"""Stamps on the heads of the audit, to be kept elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from agent_access.stamps import StampError, read_roots, stamp_heads

UNCHECKED = "Nobody checked who signed the stamp: --roots names the certificates to trust."


class Command(OperatorCommand):
    help = "Lets an authority outside stamp the heads of the audit, and keeps both in two files."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--directory", type=Path, default=Path(), metavar="DIR", help="where the files go"
        )
        parser.add_argument(
            "--roots", type=Path, metavar="FILE", help="certificates of authorities to trust (PEM)"
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            roots = read_roots(options["roots"]) if options["roots"] else []
            kept = stamp_heads(options["directory"], roots=roots)
        except StampError as error:
            raise CommandError(str(error)) from None
        moment = f"{kept.stamped_at:%Y-%m-%d %H:%M:%S} UTC"
        self.stdout.write(f"The heads of {kept.chains} chains were stamped at {moment}.")
        self.stdout.write(f"{kept.text}\n{kept.text.with_suffix('.tsr')}")
        if not roots:
            self.stderr.write(UNCHECKED)
