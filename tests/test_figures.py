"""Whoever reads a measured figure can tell which command made it, and when."""

import re
from datetime import date
from importlib.util import find_spec

import pytest

from config.environment import PROJECT_FOLDER
from tests.figures import DOCUMENTS, FIGURE, LIMITS, find_places, read_place

# What is read is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite

DECISIONS = sorted((PROJECT_FOLDER / "docs" / "adr").glob("*.md"))
DATED = re.compile(r"# .+\n\nDecided on 20\d\d-\d\d-\d\d\.\n\n")


def read(document: str) -> str:
    return (PROJECT_FOLDER / document).read_text(encoding="utf-8")


def test_every_measured_figure_has_its_command_and_its_day():
    places = list(find_places())
    assert len(places) > 10
    unsourced = [place for place in places if not place.is_sourced]
    assert [(place.document, place.heading, place.figures) for place in unsourced] == []


@pytest.mark.parametrize(
    "said",
    [
        "It takes 3 ms.",
        "On 2026-11-28 it took 3 ms.",
        "`python -m benchmarks.search` says that it takes 3 ms.",
    ],
)
def test_a_figure_without_command_or_day_is_found(said):
    place = read_place("docs/scale.md", said)
    assert place.figures == ("3 ms",)
    assert not place.is_sourced


@pytest.mark.parametrize("figure", ["690 a second", "9,700 events a second", "3.7 cores"])
def test_a_rate_is_a_figure(figure):
    assert read_place("docs/scale.md", f"It answers {figure}.").figures == (figure,)


def test_a_section_is_as_old_as_its_oldest_figure():
    said = "3 ms (2026-11-28), 4 ms (2026-11-26) and 5 ms (2026-11-27)"
    assert read_place("docs/scale.md", said).day == date(2026, 11, 26)


def test_the_head_of_a_table_can_have_the_unit():
    assert read_place("docs/scale.md", "| File | MiB |\n|---|---|\n| one | 3 |\n").figures
    assert not read_place("docs/scale.md", "| File | Lines |\n|---|---|\n| one | 3 |\n").figures


def test_every_figure_that_counts_as_a_limit_is_still_said():
    for document, limits in LIMITS.items():
        assert limits <= set(FIGURE.findall(read(document))), document


def test_every_command_that_a_document_names_is_there():
    commands = set(re.findall(r"^([a-z]+)(?: \|.*)?\) ", read("dev"), re.MULTILINE))
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        assert set(re.findall(r"`\./dev ([a-z]+)", text)) <= commands, document.name
        modules = re.findall(r"python -m ((?:benchmarks|tests)\.[\w.]*\w)", text)
        assert [module for module in modules if not find_spec(module)] == [], document.name


def test_every_decision_has_the_day_on_which_its_figures_were_true():
    assert len(DECISIONS) > 20
    texts = {decision.name: decision.read_text(encoding="utf-8") for decision in DECISIONS}
    assert [name for name, text in texts.items() if not DATED.match(text)] == []
