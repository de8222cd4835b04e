"""Another project with tools of its own, over HTTP and MCP, without invoicing and sign-in."""

import json
import sqlite3
from base64 import b64encode
from contextlib import closing

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from tests.hosts.new.conftest import BASE_URL, NO_MISTAKES, PASSWORD

# What the two apps do on both databases is asked by their own tests.
pytestmark = pytest.mark.sqlite

SETTINGS = "notes.settings"

READ, WRITE = "notes:read", "notes:write"
NOTES = "/api/v1/notes"
NOTEBOOK = "/rest/notebook/"
FULL = 3


@pytest.fixture
def empty(project):
    """Return the project with nobody's notes."""
    with closing(sqlite3.connect(project.database, isolation_level=None)) as database:
        database.execute("DELETE FROM notes_note")
    return project


def keyed(headers, key):
    return headers | {"Idempotency-Key": key}


def call(name, **arguments: str):
    return {"name": name, "arguments": arguments}


def answer_over_mcp(project, call, headers):
    """Return whether the call failed, and what it answered."""
    result = project.call_mcp("tools/call", call, headers=headers).body["result"]
    return result["isError"], result["structuredContent"]


def test_the_project_has_nothing_to_mend_and_knows_no_invoicing(project):
    assert project.find_mistakes() == NO_MISTAKES
    others = "print([find_spec(name) for name in ('invoicing', 'config')])"
    found = project.run(f"from importlib.util import find_spec; {others}")
    assert found == "[None, None]\n"


def test_the_projects_own_tests_pass(project):
    project.manage("test", "notes", "--verbosity", "0")


def test_an_agent_reads_and_writes_notes_over_both_transports(empty):
    _, agent = empty.connect(READ, WRITE)
    listed = empty.request("GET", "/api/v1/tools", headers=agent).data
    tools = [
        ("notes.list", READ),
        ("notes.write", WRITE),
        ("notebook.list", READ),
        ("notebook.create", WRITE),
    ]
    assert [(tool["name"], tool["scope"]) for tool in listed] == tools
    written = empty.request("POST", NOTES, {"text": "Milk"}, headers=keyed(agent, "first"))
    assert (written.status, written.data["text"]) == (201, "Milk")

    again = empty.request("POST", NOTES, {"text": "Milk"}, headers=keyed(agent, "first"))
    assert (again.status, again.content) == (201, written.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    repeated = call("notes_write", text="Milk", idempotency_key="first")
    assert answer_over_mcp(empty, repeated, agent) == (False, written.body)

    read = empty.request("GET", NOTES, headers=agent)
    assert read.body == {"data": [written.data], "next": None}
    assert read.headers["Cache-Control"] == "no-store"
    assert answer_over_mcp(empty, call("notes_list"), agent) == (False, read.body)
    tools = empty.call_mcp("tools/list", {}, headers=agent).body["result"]["tools"]
    names = ["notes_list", "notes_write", "notebook_list", "notebook_create"]
    assert [tool["name"] for tool in tools] == names


def test_a_refusal_is_the_projects_own_and_changes_nothing(empty):
    _, agent = empty.connect(READ, WRITE)
    for number in range(FULL):
        empty.request("POST", NOTES, {"text": "Note"}, headers=keyed(agent, f"{number}"))
    before = empty.request("GET", NOTES, headers=agent).body
    refused = empty.request("POST", NOTES, {"text": "Note"}, headers=keyed(agent, "more"))
    assert (refused.status, refused.code) == (409, "notebook_full")
    more = call("notes_write", text="Note", idempotency_key="more")
    assert answer_over_mcp(empty, more, agent) == (True, refused.body)
    wrong = empty.request("POST", NOTES, {"text": "", "colour": "red"}, headers=agent)
    assert (wrong.status, wrong.code) == (422, "validation_failed")
    assert sorted(wrong.error["fields"]) == ["Idempotency-Key", "colour", "text"]
    assert empty.request("GET", NOTES, headers=agent).body == before


def test_a_connection_reaches_no_further_than_its_scopes_and_its_person(empty):
    _, reader = empty.connect(READ)
    refused = empty.request("POST", NOTES, {"text": "Note"}, headers=keyed(reader, "key"))
    assert (refused.status, refused.code) == (403, "forbidden")
    _, olgas = empty.connect(READ, WRITE, user="olga")
    empty.request("POST", NOTES, {"text": "Private"}, headers=keyed(olgas, "key"))
    assert empty.request("GET", NOTES, headers=reader).data == []


def test_a_view_that_people_use_serves_agents_too(empty):
    _, agent = empty.connect(READ, WRITE)
    made = empty.request("POST", NOTEBOOK, {"text": "Milk"}, headers=keyed(agent, "first"))
    assert (made.status, made.body["text"]) == (201, "Milk")
    listed = empty.request("GET", NOTEBOOK, headers=agent)
    assert (listed.status, listed.body) == (200, [made.body])
    person = {"Authorization": f"Basic {b64encode(f'olga:{PASSWORD}'.encode()).decode()}"}
    assert empty.request("GET", NOTEBOOK, headers=person).body == []
    assert empty.request("GET", NOTEBOOK).status == 401
    repeated = call("notebook_create", text="Milk", idempotency_key="first")
    assert answer_over_mcp(empty, repeated, agent) == (False, {"data": made.body})
    again = empty.request("GET", "/api/v1/notebook", headers=agent)
    assert again.body == {"data": [made.body]}
    refused = empty.request("PUT", f"{NOTEBOOK}{made.body['id']}/", {}, headers=agent)
    assert (refused.status, refused.code) == (403, "forbidden")


def test_a_revoked_connection_is_out_and_the_audit_is_proved(empty):
    connection_id, agent = empty.connect(READ, WRITE)
    empty.request("POST", NOTES, {"text": "Milk"}, headers=keyed(agent, "key"))
    empty.manage("revoke_connection", connection_id)
    assert empty.request("GET", NOTES, headers=agent).code == "unauthenticated"
    assert empty.call_mcp("tools/list", {}, headers=agent).status == 401
    assert empty.request("GET", "/oauth/authorize").status == 404
    heads = dict(line.split(" ", 1) for line in empty.manage("verify_audit").splitlines())
    assert heads[connection_id].startswith("1 ")
    assert "administration" in heads


def test_the_gate_stands_before_the_project(empty):
    _, agent = empty.connect(READ)
    for odd in ({"Host": "elsewhere.example"}, {"Origin": BASE_URL}):
        assert empty.request("GET", NOTES, headers=agent | odd).status == 403


def test_the_project_describes_its_own_tools(project):
    document = json.loads(project.manage("openapi"))
    validate(document, cls=OpenAPIV31SpecValidator)
    assert document["info"] == {"title": "Notes", "version": "1.0", "description": "Short notes."}
    assert [*document["paths"]] == ["/api/v1/tools", NOTES, "/api/v1/notebook"]
    conflict = document["paths"][NOTES]["post"]["responses"]["409"]["description"]
    assert "`notebook_full`: The notebook is full" in conflict
    assert not [word for word in ("nvoic", "ustomer", "raft") if word in json.dumps(document)]
