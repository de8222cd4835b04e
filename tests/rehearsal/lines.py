"""The lines of docs/operations.md that a rehearsal runs, with its own folders and moment."""

import os
import re
import subprocess
from pathlib import Path

from config.environment import PROJECT_FOLDER
from tests.postgresql import Cluster

OPERATIONS = PROJECT_FOLDER / "docs" / "operations.md"
SECTION = "### To a point in time"

# What the document names, in the place of which a run has its own.
BACKUP = "/backup"
DAMAGED = "/var/lib/postgresql/data"
MOMENT = "2026-11-27 14:30:00+00"
LAST_NUMBER = "(gen_random_uuid(), 'invoice', 2026, 4711)"


def read_blocks(language: str) -> list[str]:
    """Return the blocks of the section that are in the language, such as `console`, in order."""
    section = OPERATIONS.read_text(encoding="utf-8").partition(SECTION)[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)


def read_script(block: str) -> str:
    """Return what is typed in a block of a console: behind `$ `, and lines that go on."""
    return "".join(f"{line.removeprefix('$ ')}\n" for line in block.splitlines())


def archiving_settings() -> str:
    [settings] = read_blocks("ini")
    return settings


def base_script() -> str:
    return read_script(read_blocks("console")[0])


def restore_script() -> str:
    return read_script(read_blocks("console")[1])


def series_statements(*, year: int, last_number: int) -> str:
    """Return the statements that move the series of invoices past the last number."""
    text = OPERATIONS.read_text(encoding="utf-8")
    block: str
    [block] = re.findall(r"^ +(BEGIN;.*?COMMIT;)$", text, re.DOTALL | re.MULTILINE)
    moved = block.replace(LAST_NUMBER, f"(gen_random_uuid(), 'invoice', {year}, {last_number})")
    if moved == block:
        raise ValueError(f"{OPERATIONS} has no series to move.")
    return moved


def run_as_server(cluster: Cluster, script: str, *, backup: Path, moment: str = MOMENT) -> str:
    """Run a script as PostgreSQL's account; return what it prints, or raise RuntimeError."""
    for told, ours in (
        (BACKUP, backup),
        (DAMAGED, cluster.folder / "data"),
        (MOMENT, moment),
    ):
        script = script.replace(str(told), str(ours))
    done = subprocess.run(  # noqa: S603  lines of our own document
        ["/bin/sh", "-euc", script],
        cwd=backup,
        env={
            "PATH": f"{cluster.binaries}:{os.environ['PATH']}",
            "PGHOST": str(cluster.folder),
            "LC_ALL": "C",
        },
        capture_output=True,
        text=True,
        check=False,
        **cluster.account._asdict(),
    )
    if done.returncode:
        raise RuntimeError(f"{script}\n{done.stdout}{done.stderr}")
    printed: str = done.stdout
    return printed
