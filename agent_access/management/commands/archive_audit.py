"""The audit of before a day: into a file, and then out of the database."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.management import CommandError
from django.utils import timezone
from typing_extensions import override

from agent_access.audit import OPERATOR
from agent_access.evidence.archives import (
    Archive,
    ArchiveError,
    read_archive,
    remove_file,
    write_archive,
)
from agent_access.evidence.files import new_file
from agent_access.operator_command import OperatorCommand

# What pages count and compare is younger.
YOUNGEST = timedelta(days=90)
TWO_WAYS = "Say --before DAY --into FILE.zip, or --remove FILE.zip."


class Command(OperatorCommand):
    help = (
        "Writes the audit of before a day into a file, or removes from the database what one has."
    )

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--before", type=read_day, metavar="DAY", help="such as 2026-01-01")
        parser.add_argument("--into", type=Path, metavar="FILE.zip", help="a new file")
        parser.add_argument(
            "--remove",
            type=Path,
            metavar="FILE.zip",
            help="such a file, whose events are removed; as the owner of the tables",
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        before, into, remove = (options[name] for name in ("before", "into", "remove"))
        if bool(before) != bool(into) or bool(into) == bool(remove):
            raise CommandError(TWO_WAYS)
        try:
            if remove:
                removed = remove_file(remove, by=OPERATOR)
                self.stdout.write(f"{removed} events were removed.")
                return
            archive = self._write(before, into)
        except ArchiveError as error:
            raise CommandError(str(error)) from None
        told = f"{archive.events} events of {len(archive.ends)} chains"
        self.stdout.write(f"{into}: {told}, SHA-256 {archive.digest}")

    def _write(self, before: datetime, file: Path) -> Archive:
        with new_file(file) as opened:
            write_archive(opened, before=before)
            return read_archive(opened, file)


def read_day(text: str) -> datetime:
    """Return when a day begins in UTC; raises ArgumentTypeError if it is too young, or none."""
    try:
        day = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
    except ValueError:
        raise ArgumentTypeError("not a day such as 2026-01-01") from None
    if day > timezone.now() - YOUNGEST:
        raise ArgumentTypeError(f"events are kept for {YOUNGEST.days} days at least")
    return day
