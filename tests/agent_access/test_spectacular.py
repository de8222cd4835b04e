"""What a project's own document of its API says of agents."""

import pytest
from drf_spectacular.generators import SchemaGenerator

from agent_access.http import spectacular
from agent_access.inputs import KEY_HEADER
from tests.agent_access.host_views import READ, WRITE, router

# A document is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite

PEOPLE: dict[str, list[str]] = {"cookieAuth": []}
AGENTS: dict[str, list[str]] = {"connection": []}


@pytest.fixture
def document(settings):
    settings.REST_FRAMEWORK = {"DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema"}
    generator = SchemaGenerator(patterns=router.urls, title="Teams", version="1")
    made = generator.get_schema(public=True)
    return spectacular.describe_calls(made, generator, request=None, public=True)


def test_a_document_names_the_tools_their_scopes_and_the_key_of_a_write(document):
    read, make = (document["paths"]["/teams/"][method] for method in ("get", "post"))
    assert read["security"] == make["security"] == [AGENTS, PEOPLE]
    assert read["x-agent-tool"] == {"name": "teams.list", "scope": READ}
    assert make["x-agent-tool"] == {"name": "teams.create", "scope": WRITE}
    keys = [each for each in make["parameters"] if each["name"] == KEY_HEADER]
    assert [(key["in"], key["required"]) for key in keys] == [("header", False)]
    assert KEY_HEADER not in [each["name"] for each in read["parameters"]]
    assert document["components"]["securitySchemes"]["connection"]["scheme"] == "bearer"


def test_what_is_no_tool_is_described_as_before(document):
    for path in ("/teams/secrets/", "/plain-teams/"):
        operation = document["paths"][path]["get"]
        assert AGENTS not in operation["security"]
        assert "x-agent-tool" not in operation
