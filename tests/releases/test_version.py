"""One version, wherever it is said."""

import json
import re
import tomllib

import pytest

import agent_access
import invoicing
from config.environment import PROJECT_FOLDER

# No database is asked: once is enough.
pytestmark = pytest.mark.sqlite

VERSION = tomllib.loads((PROJECT_FOLDER / "pyproject.toml").read_text())["project"]["version"]


def read(name: str, pattern: str = "(?s)(.*)") -> str:
    found = re.search(pattern, (PROJECT_FOLDER / name).read_text(encoding="utf-8"))
    return found[1] if found else ""


def test_every_file_that_says_the_version_says_the_same():
    assert {
        "agent_access": agent_access.__version__,
        "invoicing": invoicing.__version__,
        "image": read("compose.yaml", r"image: agent-invoicing:(\S+)"),
        "wheel": read("agent_access/README.md", r"django_agent_access-([0-9.]+)-py3"),
        "catalogue": json.loads(read("server.json"))["version"],
        "OpenAPI": json.loads(read("docs/openapi.json"))["info"]["version"],
    } == dict.fromkeys(
        ("agent_access", "invoicing", "image", "wheel", "catalogue", "OpenAPI"), VERSION
    )


def test_the_changelog_has_a_section_of_the_version_below_that_of_what_comes():
    sections = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", read("CHANGELOG.md"), re.MULTILINE)
    assert sections[0] == ("Unreleased", "")
    version, day = sections[1]
    assert version == VERSION
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)


def test_the_databases_of_the_version_are_kept():
    kept = PROJECT_FOLDER / "tests" / "releases" / "kept"
    assert VERSION in {folder.name for folder in kept.iterdir()}
