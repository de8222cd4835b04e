"""docs/security.md says of every line where it is met and what shows it, and says so truly."""

import ast
import re
from functools import cache
from typing import NamedTuple

import pytest
from django.apps import apps
from django.urls import URLPattern

from agent_access.listing import TOOLS_LIST
from agent_access.tools import registry
from config.environment import PROJECT_FOLDER
from tests.web.pages import OPEN, all_pages

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

TEXT = (PROJECT_FOLDER / "docs" / "security.md").read_text(encoding="utf-8")
STATES = {"met", "partly", "not met", "not applicable"}

# From a chapter, or the list, to its sections and how many lines each has: ASVS 5.0.0, API Top 10
# 2023. RFC 9700 has lines by itself, behind the chapter on OAuth.
CHAPTERS = {
    "V2": {3: 5},
    "V7": {1: 3, 2: 4, 3: 2, 4: 5, 5: 3, 6: 2},
    "V8": {1: 4, 2: 4, 3: 3, 4: 2},
    "V9": {1: 3, 2: 4},
    "V10": {1: 2, 2: 3, 3: 5, 4: 16, 5: 5, 6: 2, 7: 3},
    "V14": {1: 2, 2: 8, 3: 3},
    "V16": {1: 1, 2: 5, 3: 4, 4: 3, 5: 4},
    "API": {1: 4, 2: 10, 3: 6, 4: 7, 5: 4, 6: 3, 7: 6, 8: 9, 9: 8, 10: 4},
}

RFC_9700 = (
    *("2.1", "2.1.1", "2.1.2", "2.2.1", "2.2.2", "2.3", "2.4", "2.5", "2.6"),
    *(f"4.{section}" for section in range(1, 18)),
)

ENTRY = re.compile(
    r"^- \*\*(?P<line>[\w.]+)\*\* \((?:L[123], )?(?P<state>[a-z ]+)\) (?P<text>(?:.+\n)+?)"
    r"(?=- \*\*|\n|\Z)",
    re.MULTILINE,
)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
FILE = re.compile(r"`([\w./-]+\.[a-z]{2,5}|Dockerfile)`")


class Entry(NamedTuple):
    line: str
    state: str
    text: str

    @property
    def tests(self) -> list[tuple[str, str]]:
        return TEST.findall(self.text)

    @property
    def missing(self) -> str:
        return self.text.partition("Missing: ")[2]


ENTRIES = [Entry(*found.groups()) for found in ENTRY.finditer(TEXT)]
WITHOUT_A_TEST = {each.line for each in ENTRIES if each.state == "not met"}


def read_table(heading: str) -> list[list[str]]:
    """Return the rows of the table that has this head."""
    [after] = [part for part in TEXT.split("\n\n") if part.startswith(f"| {heading} |")]
    return [
        [cell.strip() for cell in row.strip("|").split(" | ")] for row in after.splitlines()[2:]
    ]


@cache
def functions_of(path: str) -> set[str]:
    tree = ast.parse((PROJECT_FOLDER / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_line_of_each_list_is_read_in_order():
    lines = [
        f"{chapter}{'' if chapter == 'API' else '.'}{section}.{line}"
        for chapter, sections in CHAPTERS.items()
        for section, count in sections.items()
        for line in range(1, count + 1)
    ]
    behind = lines.index("V10.7.3") + 1
    lines[behind:behind] = [f"RFC9700.{section}" for section in RFC_9700]
    assert [each.line for each in ENTRIES] == lines
    assert {each.state for each in ENTRIES} == STATES
    assert TEXT.count("\n- **") == len(ENTRIES)


def test_every_line_names_a_file_and_a_test_and_each_is_there():
    for each in ENTRIES:
        files = FILE.findall(each.text)
        assert each.line in WITHOUT_A_TEST or (each.tests and files), each.line
        assert [path for path in files if not (PROJECT_FOLDER / path).is_file()] == [], each.line
        gone = [(path, name) for path, name in each.tests if name not in functions_of(path)]
        assert gone == [], each.line
    assert len(TEST.findall(TEXT)) == TEXT.count("::")


def test_what_is_missing_is_said_and_said_in_short():
    lacking = {each.line for each in ENTRIES if each.state in {"partly", "not met"}}
    assert {each.line for each in ENTRIES if each.missing} == lacking
    in_short = [line for row in read_table("Line") for line in row[0].split(", ")]
    assert in_short == [each.line for each in ENTRIES if each.line in lacking]


def short(permission: str) -> str:
    return permission.removeprefix("invoices.")


def test_the_table_of_tools_is_the_registry():
    told = [tuple(row) for row in read_table("Tool")]
    tools = [(each.name, each.scope, ", ".join(map(short, each.permissions))) for each in registry]
    assert told == [(TOOLS_LIST.name, "any connection", "none"), *tools]


def test_the_table_of_pages_is_the_routes():
    def needs(route: URLPattern) -> str:
        if route.name in OPEN:
            return "not even a sign-in"
        permissions = getattr(route.callback, "permissions", ())
        return ", ".join(map(short, permissions)) or "none"

    pages = {
        re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{route.pattern}").replace("{pk}", "{id}"): needs(route)
        for route in all_pages()
    }
    assert dict(read_table("Page")) == pages


def test_every_table_has_a_level_of_protection():
    tables = sorted(model._meta.label for model in apps.get_models() if not model._meta.proxy)
    told = dict(read_table("Table"))
    assert sorted(told) == tables
    assert set(told.values()) == {row[0] for row in read_table("Level")}


def test_every_level_says_how_it_is_protected():
    rows = read_table("Level")
    assert [row[0] for row in rows] == ["secret", "private", "business", "evidence", "plain"]
    assert [len(list(filter(None, row))) for row in rows] == [5] * 5


def test_the_service_has_bounds_of_memory_and_processes():
    compose = (PROJECT_FOLDER / "compose.yaml").read_text(encoding="utf-8")
    service = compose.partition("x-service:")[2].partition("\nservices:")[0]
    bounds = dict(re.findall(r"^  (mem_limit|pids_limit): (\w+)$", service, re.MULTILINE))
    assert bounds == {"mem_limit": "1g", "pids_limit": "256"}
