"""Proof of the audit, for scripts and for keeping its heads elsewhere."""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from agent_access.verification import (
    WHOLE,
    Part,
    Position,
    keep_result,
    prove,
    write_heads,
)

# As this command prints it. A chain without events has no digest; editors trim the last blank.
HEAD = re.compile(r"(\S+) ([0-9]{1,18})(?: ([0-9a-f]*))?", re.ASCII)
PART = re.compile(r"([0-9]{1,6})/([0-9]{1,6})", re.ASCII)
ARCHIVED = (
    "Of {} chains a head is that of an event in an archive, and was not compared:"
    " verify_evidence.py --heads compares it, given the archive."
)


class Command(OperatorCommand):
    help = "Verifies the audit chains and prints their heads, or names the first break of each."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--expect", type=Path, metavar="FILE", help="heads that an earlier run printed"
        )
        parser.add_argument(
            "--since",
            type=Path,
            metavar="FILE",
            help="such heads, up to which the chains are not walked again",
        )
        parser.add_argument(
            "--part",
            type=read_part,
            default=WHOLE,
            metavar="K/N",
            help="only part K of N, of which all together are the whole",
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        expected, since = (
            read_heads_file(options[name]) if options[name] else {} for name in ("expect", "since")
        )
        part: Part = options["part"]
        proof = prove(expected, since=since, part=part)
        if part == WHOLE or proof.breaks:
            keep_result(broken=len(proof.breaks))
        for found in proof.breaks:
            self.stderr.write(f"{found.chain} {found.sequence}: {found.problem}")
        if proof.breaks:
            sys.exit(1)
        if proof.archived:
            self.stderr.write(ARCHIVED.format(proof.archived))
        if part == WHOLE:
            self.stdout.write(write_heads(proof.ends), ending="")
        else:
            self.stdout.write(f"Part {part.number} of {part.count} is as it was written.")


def read_part(text: str) -> Part:
    """Return the part that an argument such as 2/7 names; raises ArgumentTypeError."""
    found = PART.fullmatch(text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ArgumentTypeError("not a part such as 2/7")
    return Part(int(found[1]), int(found[2]))


def read_heads_file(file: Path) -> dict[str, Position]:
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
