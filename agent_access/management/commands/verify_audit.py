"""Proof of the audit, for scripts and for keeping its heads elsewhere."""

import re
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from agent_access.verification import (
    Position,
    find_breaks,
    keep_result,
    read_heads,
    write_heads,
)

# As this command prints it. A chain without events has no digest; editors trim the last blank.
HEAD = re.compile(r"(\S+) ([0-9]{1,18})(?: ([0-9a-f]*))?", re.ASCII)


class Command(OperatorCommand):
    help = "Verifies the audit chains and prints their heads, or names the first break of each."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--expect", type=Path, metavar="FILE", help="heads that an earlier run printed"
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        expected = _read_heads_file(options["expect"]) if options["expect"] else {}
        breaks = list(find_breaks(expected))
        keep_result(broken=len(breaks))
        for found in breaks:
            self.stderr.write(f"{found.chain} {found.sequence}: {found.problem}")
        if breaks:
            sys.exit(1)
        self.stdout.write(write_heads(read_heads()), ending="")


def _read_heads_file(file: Path) -> dict[str, Position]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise CommandError("The file of expected heads cannot be read.") from None
    heads: dict[str, Position] = {}
    for line in filter(None, lines):
        head = HEAD.fullmatch(line)
        if head is None:
            raise CommandError("A line of the file is not: chain, sequence, digest.")
        if head[1] in heads:
            raise CommandError("The file names a chain twice; it must hold the heads of one run.")
        heads[head[1]] = Position(int(head[2]), head[3] or "")
    if not heads:
        # As left by a run that found a break, if its output was redirected into the file.
        raise CommandError("The file names no chain, so it would prove nothing.")
    return heads
