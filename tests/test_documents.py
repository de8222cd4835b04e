"""What the documents name is there: the places that their links lead to, and files."""

import os
import re
from pathlib import Path

import pytest

from config.environment import PROJECT_FOLDER

# What is read is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite

DOCUMENTS = sorted(
    {
        *PROJECT_FOLDER.glob("*.md"),
        *PROJECT_FOLDER.glob("docs/**/*.md"),
        *PROJECT_FOLDER.glob("*/README.md"),
    }
)
LINK = re.compile(r"\]\((?!https://)([^)#]*)(?:#([^)]+))?\)")
FILE = re.compile(r"`(\w[\w.-]*(?:/[\w.-]+)+)/?`")
# The operator and the service make these.
MADE = {"deploy/secrets.env", "var/ca.pem", "var/quickstart.env", "var/sbom.json"}
ELSEWHERE = {".git", ".venv", "var"}


def read(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def places_in(document: Path) -> set[str]:
    """Return the anchors that a page of Markdown gives its headings."""
    headings = re.findall(r"^#+ (.+)$", read(document), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_leads_somewhere() -> None:
    links = [(document, *link) for document in DOCUMENTS for link in LINK.findall(read(document))]
    assert len(links) > 5
    astray = []
    for document, file, place in links:
        goal = document.parent / file if file else document
        if not goal.is_file() or (place and place not in places_in(goal)):
            astray.append((document.name, file, place))
    assert astray == []


def test_every_file_that_a_document_names_is_there() -> None:
    there = {"/" + path for path in tree()}
    gone = [
        (document.name, name)
        for document in DOCUMENTS
        for name in FILE.findall(read(document))
        if name not in MADE and not any(path.endswith("/" + name) for path in there)
    ]
    assert gone == []


def tree() -> list[str]:
    """Return every file and folder of the project, with its path."""
    found = []
    for folder, names, files in os.walk(PROJECT_FOLDER):
        names[:] = [name for name in names if name not in ELSEWHERE]
        inside = Path(folder).relative_to(PROJECT_FOLDER)
        found += [(inside / name).as_posix() for name in (*names, *files)]
    return found
