"""Writes docs/promises.md from the rows, and the table of a run."""

import platform
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from config.environment import PROJECT_FOLDER
from tests.promises.rows import Guard, Promise, Theme
from tests.promises.verdicts import Verdict

PAGE = PROJECT_FOLDER / "docs/promises.md"
RESULT = "benchmarks/results/promises.md"

HEAD = """\
# What is promised, and what keeps it

Each promise is a sentence of a document. What keeps it is a guard: a trigger or constraint of the
database, a lock, a conditional update, or a check. `./dev guards` removes one guard after another in a
copy of the project, and demands that the test named here fails without it; [the last run](../{result})
has its date. `./dev guards --only NAME` tries one. The rows are in `tests/promises/`, by theme, from
which `python -m tests.promises --write` writes this page.

Where guards stand behind one another, each is removed by itself if a test can tell the difference, and
otherwise all of them at once: "with" names the others.

{promises} promises, {guards} guards.
"""
ROW_HEAD = "| Name | Kept by | Fails without it |\n|---|---|---|\n"
PLAIN_DATABASE = "sqlite"


def write_page(themes: Sequence[Theme]) -> str:
    promises = [promise for theme in themes for promise in theme.promises]
    guards = sum(len(promise.guards) for promise in promises)
    head = HEAD.format(result=RESULT, promises=len(promises), guards=guards)
    return head + "".join(_write_theme(theme) for theme in themes)


def _write_theme(theme: Theme) -> str:
    return f"\n## {theme.title}\n" + "".join(map(_write_promise, theme.promises))


def _write_promise(promise: Promise) -> str:
    said = f"\n**{promise.sentence}** (`{promise.said_in}`)\n\n"
    return said + ROW_HEAD + "".join(map(_write_guard, promise.guards))


def _write_guard(guard: Guard) -> str:
    kept_by = f"{guard.kind}: `{guard.where}` in `{guard.path}`"
    others = sorted({edit.path for edit in guard.edits} - {guard.path})
    if others:
        kept_by += ", with " + ", ".join(f"`{path}`" for path in others)
    if guard.note:
        kept_by += f". {guard.note}"
    tests = ", ".join(f"`{test}`" for test in guard.tests)
    if guard.database != PLAIN_DATABASE:
        tests += " (on PostgreSQL)"
    return f"| {guard.name} | {kept_by} | {tests} |\n"


def write_result(verdicts: Sequence[Verdict], *, seconds: float) -> str:
    """Return the table of a run: how many guards of each kind were removed and noticed."""
    removed = Counter(each.guard.kind for each in verdicts)
    noticed = Counter(each.guard.kind for each in verdicts if not each.fault)
    rows = [f"| {kind} | {count} | {noticed[kind]} |" for kind, count in sorted(removed.items())]
    total = f"| **all** | **{removed.total()}** | **{noticed.total()}** |"
    told = f"{datetime.now(UTC):%Y-%m-%d}, {seconds / 60:.1f} minutes, Python {platform.python_version()}."
    table = "\n".join(["| Guards | Removed | A test failed |", "|---|---:|---:|", *rows, total])
    return f"# What `./dev guards` found\n\n{told}\n\n{table}\n"
