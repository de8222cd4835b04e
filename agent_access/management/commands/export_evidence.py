"""Evidence in a file, for an auditor or an archive."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.audit import OPERATOR
from agent_access.evidence.exporting import export_package
from agent_access.operator_command import OperatorCommand

# For who runs the command alone.
MODE = 0o600


class Command(OperatorCommand):
    help = "Writes the audit, approvals and records as a ZIP file, which verify_evidence.py checks."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.zip")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE)
        except FileExistsError:
            raise CommandError(f"{file} is there already, and is not replaced.") from None
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
        try:
            with os.fdopen(descriptor, "wb") as opened:
                written = export_package(opened, by=OPERATOR)
        except BaseException as error:
            file.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
            raise
        self.stdout.write(f"{file}: {written.size} bytes, SHA-256 {written.digest}")
