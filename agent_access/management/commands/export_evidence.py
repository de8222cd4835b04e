"""Evidence in a file, for an auditor or an archive."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from typing_extensions import override

from agent_access.audit import OPERATOR
from agent_access.evidence.exporting import export_package
from agent_access.evidence.files import new_file
from agent_access.operator_command import OperatorCommand


class Command(OperatorCommand):
    help = "Writes the audit, approvals and records as a ZIP file, which verify_evidence.py checks."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.zip")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        with new_file(file) as opened:
            written = export_package(opened, by=OPERATOR)
        self.stdout.write(f"{file}: {written.size} bytes, SHA-256 {written.digest}")
