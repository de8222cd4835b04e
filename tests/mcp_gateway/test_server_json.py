"""What the MCP registry is told is what the server says of itself."""

import json
import re
import tomllib

import pytest

from agent_access import conf
from config.environment import PROJECT_FOLDER
from mcp_gateway.endpoint import ENDPOINT_PATH

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

# The registry's own limits (schema of 2025-12-11).
NAME = r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+"
DESCRIPTION_LENGTH = 100


@pytest.fixture
def told():
    return json.loads((PROJECT_FOLDER / "server.json").read_text(encoding="utf-8"))


def test_name_title_and_version_are_those_of_the_host_and_the_project(told):
    project = tomllib.loads((PROJECT_FOLDER / "pyproject.toml").read_text(encoding="utf-8"))
    service = conf.policy().service()
    assert (told["name"].split("/")[1], told["title"]) == (service.name, service.title)
    assert service.name == project["project"]["name"]
    assert told["version"] == service.version == project["project"]["version"]


def test_the_registrys_limits_are_kept(told):
    assert re.fullmatch(NAME, told["name"])
    assert len(told["description"]) <= DESCRIPTION_LENGTH


def test_the_address_is_the_endpoint_and_the_credential_a_secret_header(told):
    (remote,) = told["remotes"]
    (header,) = remote["headers"]
    assert (remote["type"], remote["url"]) == (
        "streamable-http",
        f"https://{{host}}{ENDPOINT_PATH}",
    )
    assert (header["name"], header["isSecret"]) == ("Authorization", True)
