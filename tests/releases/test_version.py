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


def read(name):
    return (PROJECT_FOLDER / name).read_text(encoding="utf-8")


def test_every_file_that_says_the_version_says_the_same():
    assert {
        "agent_access": agent_access.__version__,
        "invoicing": invoicing.__version__,
        "image": re.search(r"image: agent-invoicing:(\S+)", read("compose.yaml"))[1],
        "wheel": re.search(r"django_agent_access-([0-9.]+)-py3", read("agent_access/README.md"))[1],
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
