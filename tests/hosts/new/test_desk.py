"""A project that was there before: integer keys, ATOMIC_REQUESTS, backends, an API of its own."""

import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.hosts.new.conftest import PASSWORD
from tests.hosts.new.visitors import Browser

# What the two apps do on both databases is asked by their own tests.
pytestmark = pytest.mark.sqlite

SETTINGS = "desk.settings"

READ, WRITE = "tickets:read", "tickets:write"
TICKETS = "/agents/api/v1/tickets"
MCP = "/agents/mcp"


@pytest.fixture
def agent(project):
    return project.connect(READ, WRITE)[1]


def open_ticket(project, agent, key):
    sent = agent | {"Idempotency-Key": key}
    return project.request("POST", TICKETS, {"subject": "Printer"}, headers=sent)


def call(project, agent, name, **arguments: Any):
    params = {"name": name, "arguments": arguments}
    result = project.call_mcp("tools/call", params, headers=agent, path=MCP).body["result"]
    return result["isError"], result["structuredContent"]


def test_the_project_has_nothing_to_mend(project):
    checked = project.manage("check", "--fail-level", "WARNING", "--database", "default")
    assert checked == "System check identified no issues (0 silenced).\n"
    project.manage("makemigrations", "--check", "--dry-run")


def test_tickets_are_known_by_their_numbers_over_both_transports(project, agent):
    with closing(sqlite3.connect(project.database, isolation_level=None)) as database:
        database.execute("DELETE FROM desk_ticket")
    first, second = (open_ticket(project, agent, key).data["id"] for key in ("one", "two"))
    assert isinstance(first, int)
    again = open_ticket(project, agent, "one")
    assert (again.data["id"], again.headers["Idempotent-Replayed"]) == (first, "true")

    listed = project.request("GET", TICKETS, headers=agent).body
    assert (listed["data"][0]["id"], listed["next"]) == (first, first)
    following = project.request("GET", f"{TICKETS}?after={first}", headers=agent).body
    assert following["data"][0]["id"] == second
    assert call(project, agent, "tickets_list", after=first) == (False, following)

    read = project.request("GET", f"{TICKETS}/{second}", headers=agent).body
    assert read["data"]["id"] == second
    assert call(project, agent, "tickets_read", id=second) == (False, read)


@pytest.mark.parametrize("number", ["0", "999999", "01", "x", str(2**63), "-1"])
def test_a_number_of_no_ticket_is_not_found(project, agent, number):
    assert project.request("GET", f"{TICKETS}/{number}", headers=agent).code == "not_found"


@pytest.mark.parametrize("after", ["0", "x", "-1"])
def test_a_page_after_no_number_is_refused(project, agent, after):
    refused = project.request("GET", f"{TICKETS}?after={after}", headers=agent)
    assert (refused.code, refused.error["fields"]) == ("validation_failed", ["after"])


def test_a_refusal_of_the_projects_model_is_answered_and_audited(project):
    connection_id, agent = project.connect(WRITE)
    sent = agent | {"Idempotency-Key": "long"}
    refused = project.request("POST", TICKETS, {"subject": "x" * 201}, headers=sent)
    assert (refused.status, refused.error["fields"]) == (422, ["subject"])
    heads = dict(line.split(" ", 1) for line in project.manage("verify_audit").splitlines())
    assert heads[connection_id].startswith("1 ")


def test_the_projects_pages_stay_as_they_were(project):
    for host in ("localhost", "help.example"):
        for path in ("/", "/api/v1/tools"):
            page = project.request("GET", path, headers={"Host": host, "X-Forwarded-Proto": "http"})
            assert (page.status, page.content) == (200, b"Help")
            assert page.headers["Cache-Control"] == "public, max-age=60"
            assert "X-Request-Id" not in page.headers
    assert (
        project.request("GET", "/agents/api/v1/tools", headers={"Host": "help.example"}).status
        == 403
    )


def test_the_owner_reads_names_and_ends_a_connection(project, agent):
    ticket = open_ticket(project, agent, "shown").data["id"]
    browser = Browser(project)
    place = "/admin/login/"
    assert browser.submit(place, {"username": "olga", "password": PASSWORD}).status == 302
    audit = browser.open("/admin/agent_access/auditevent/").content.decode()
    assert re.search(r"field-actor[^>]*>\s*nora", audit)
    [nora] = re.findall(r'<option value="([0-9a-f-]{36})"[^>]*>nora', audit)
    for query in ("q=nora", f"actor={nora}"):
        found = browser.open(f"/admin/agent_access/auditevent/?{query}").content.decode()
        assert "tickets.open" in found
    receipts = browser.open(f"/admin/agent_access/receipt/?q={ticket}").content.decode()
    assert re.search(rf"field-record[^>]*>\s*{ticket}<", receipts)


def test_whoever_approved_it_and_loses_the_right_ends_it(project, agent):
    assert project.request("GET", TICKETS, headers=agent).status == 200
    take = "from django.contrib.auth.models import User; User.objects.filter(username='olga')"
    project.manage("shell", "-v0", "-c", f"{take}.update(is_superuser=False)")
    assert project.request("GET", TICKETS, headers=agent).code == "unauthenticated"
    project.manage("shell", "-v0", "-c", f"{take}.update(is_superuser=True)")
    assert project.request("GET", TICKETS, headers=agent).code == "unauthenticated"


def test_the_document_of_the_project_has_integers(project):
    described = json.loads(project.manage("openapi"))
    [parameter] = described["paths"][f"{TICKETS}/{{id}}"]["get"]["parameters"]
    assert parameter["schema"]["type"] == "integer"
    assert described["info"]["title"] == "localhost"
