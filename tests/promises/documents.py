"""Writes docs/promises.md from the rows, and the table of a run."""

from collections import Counter
from collections.abc import Iterator, Sequence

from config.environment import PROJECT_FOLDER
from tests.promises.rows import Guard, Promise, Theme
from tests.promises.verdicts import Verdict

PAGE = PROJECT_FOLDER / "docs/promises.md"
RESULT = "benchmarks/results/promises.md"

HEAD = """\
# What is promised, and what keeps it

Each promise is a sentence of a document. What keeps it is a guard: a trigger or a constraint of the
database, a lock, a conditional update, or a check. `./dev guards` removes one guard after another
in a copy of the project, and demands that each test named beside it fails, by what it asserts. Of
the last run `{result}` has the date and the figures; `./dev guards --only NAME` tries one guard.

Where guards stand behind one another, each is removed by itself if a test can tell the difference,
and otherwise both. The rows are in `tests/promises/`, by theme; `python -m tests.promises --write`
writes this page from them.

{promises} promises, {guards} guards.
"""
TABLE = """\
| Promise | Guard | Kept by | Fails without it |
|---|---|---|---|
"""
PLAIN_DATABASE = "sqlite"


def write_page(themes: Sequence[Theme]) -> str:
    promises = [promise for theme in themes for promise in theme.promises]
    guards = sum(len(promise.guards) for promise in promises)
    head = HEAD.format(result=RESULT, promises=len(promises), guards=guards)
    return head + "".join(map(_write_theme, themes))


def _write_theme(theme: Theme) -> str:
    rows = [row for promise in theme.promises for row in _write_promise(promise)]
    return f"\n## {theme.title}\n\n{TABLE}" + "".join(rows)


def _write_promise(promise: Promise) -> Iterator[str]:
    """Yield a row for each guard, of which the first has the sentence."""
    sentence = promise.sentence.replace("|", "\\|")
    said = f"{sentence} (`{promise.said_in}`)"
    for guard in promise.guards:
        tests = ", ".join(f"`{test}`" for test in guard.tests)
        if guard.database != PLAIN_DATABASE:
            tests += " (PostgreSQL)"
        yield f"| {said} | {guard.name} | {_tell_guard(guard)} | {tests} |\n"
        said = ""


def _tell_guard(guard: Guard) -> str:
    told = f"{guard.kind}: `{guard.where}` in `{guard.path}`"
    others = sorted({edit.path for edit in guard.edits} - {guard.path})
    if others:
        told += ", with " + ", ".join(f"`{path}`" for path in others)
    return f"{told}. {guard.note}" if guard.note else told


def write_table(verdicts: Sequence[Verdict], *, seconds: float) -> str:
    """Return the table of a run: how many guards of each theme were removed and noticed."""
    removed = Counter(each.guard.theme for each in verdicts)
    noticed = Counter(each.guard.theme for each in verdicts if not each.fault)
    rows = [f"| {theme} | {count} | {noticed[theme]} |" for theme, count in removed.items()]
    total = f"| **all** | **{removed.total()}** | **{noticed.total()}** |"
    head = [f"{seconds / 60:.1f} minutes.", "", "| Guards | Removed | A test failed |"]
    return "\n".join([*head, "|---|---:|---:|", *rows, total])
