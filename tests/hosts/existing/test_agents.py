"""Agents at a help desk that ran before: its own views, and an act that its people approve."""

import difflib
import json
import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from typing_extensions import override

from tests.hosts.existing.conftest import HOST, PASSWORD
from tests.hosts.existing.test_as_before import FORM, Visitor
from tests.oauth.programs import Program

# What the apps do on both databases is asked by their own tests.
pytestmark = pytest.mark.sqlite

AGENTS = f"https://{HOST}/desk/agents"
SCOPES = ("tickets:read", "tickets:write", "tickets:close")
OWN = "/desk/api/v1/tickets/"
PROJECT = Path(__file__).parent / "helpdesk"


class Person(Visitor):
    """Somebody who is signed in at the help desk."""

    def __init__(self, desk, name) -> None:
        super().__init__(desk)
        self.submit("/desk/login/", username=name, password=PASSWORD)

    def read(self, path):
        return unescape(self.visit("GET", path).content.decode())

    def decide(self, asked, decision):
        path = urlsplit(asked["review_url"]).path
        [fingerprint] = re.findall(r'name="fingerprint" value="(\w+)"', self.read(path))
        return self.submit(path, decision=decision, fingerprint=fingerprint)


class Agent:
    """An agent of nora, at the doors of its project."""

    def __init__(self, desk, credential) -> None:
        self.desk = desk
        self.headers = {"Authorization": f"Bearer {credential}"}

    def get(self, path):
        return self.desk.request("GET", path, headers=self.headers)

    def post(self, path, body):
        headers = self.headers | {"Idempotency-Key": uuid4().hex}
        return self.desk.request("POST", path, body, headers=headers)

    def call(self, tool, **arguments: object):
        """Return whether a tool failed over MCP, and what it answered."""
        params = {"name": tool, "arguments": arguments}
        path = "/desk/agents/mcp"
        answer = self.desk.call_mcp("tools/call", params, headers=self.headers, path=path)
        return answer.body["result"]["isError"], answer.body["result"]["structuredContent"]


class Client(Program):
    """A program that signs its person in by the browser."""

    def __init__(self, desk) -> None:
        super().__init__()
        self.desk = desk
        metadata = {"client_name": "Scribe", "redirect_uris": [self.return_address]}
        registered = self.post_json("/oauth/register", metadata)
        self.client_id = registered.body["client_id"]

    @override
    def send(self, method, path, body=b"", *, content_type="application/json", **_: object):
        headers = {"Content-Type": content_type}
        return self.desk.request(method, f"/desk/agents{path}", body, headers=headers)


@pytest.fixture(scope="module")
def credential(desk):
    return desk.connect(*SCOPES)[1]["Authorization"].removeprefix("Bearer ")


@pytest.fixture(scope="module")
def signed_in(desk, credential):
    """The access token of a program that olga has let act for nora."""
    desk.manage("browser_sign_in", "on")
    client, olga = Client(desk), Person(desk, "olga")
    asked = {"scope": " ".join(SCOPES), "state": None, "resource": f"{AGENTS}/mcp"}
    path = f"/desk/agents{client.authorize_path(**asked)}"
    [nora] = re.findall(r'<option value="([\w-]+)">nora \(nora\)', olga.read(path))
    chosen = {"csrfmiddlewaretoken": olga.form_token, "acts_as": nora, "scopes": SCOPES}
    chosen |= {"expires_in_days": "7", "decision": "allow", "own_password": PASSWORD}
    form = urlencode(chosen, doseq=True).encode()
    allowed = olga.visit("POST", path, form, Referer=f"https://{HOST}{path}", **FORM)
    [code] = parse_qs(urlsplit(allowed.headers["Location"]).query)["code"]
    return client.exchange(code, resource=f"{AGENTS}/mcp").body["access_token"]


@pytest.fixture(params=["credential", "signed_in"])
def agent(request, desk):
    return Agent(desk, request.getfixturevalue(request.param))


def test_a_view_serves_agents_after_eight_more_lines():
    """Three more declare the parameter of its pages."""
    before, after = ((PROJECT / f"{name}.py").read_text() for name in ("api", "api_with_agents"))
    lines = [*difflib.ndiff(before.splitlines(), after.splitlines())]
    added = [line for line in lines if line.startswith("+ ") and line.strip() != "+"]
    of_pages = [line for line in added if re.search("PageInput\\(|page: |ToolInput$", line)]
    assert (len(added), len(of_pages)) == (8 + 3, 3)
    assert [line for line in lines if line.startswith("- ")] == [
        "- class TicketViewSet(CreateModelMixin, ReadOnlyModelViewSet):"
    ]


def test_an_agent_lists_reads_and_opens_tickets_at_each_door(agent):
    ticket = {"subject": "Screen", "comments": [{"text": "It is dark."}]}
    opened = agent.post(OWN, ticket).body
    assert (opened["subject"], opened["comments"]) == ("Screen", ticket["comments"])
    again = agent.post("/desk/agents/api/v1/tickets", ticket)
    assert (again.status, again.data["subject"]) == (201, "Screen")

    at_the_view = agent.get(f"{OWN}{opened['id']}/").body
    assert at_the_view == opened
    assert agent.get(f"/desk/agents/api/v1/tickets/{opened['id']}").data == opened
    assert agent.call("tickets_get", id=opened["id"]) == (False, {"data": opened})

    listed = agent.get(f"{OWN}?page=1").body
    assert opened in listed["results"]
    assert agent.get("/desk/agents/api/v1/tickets").data == agent.get(OWN).body


def test_a_repeated_write_is_one_operation_whichever_door_it_comes_to(desk, credential):
    agent = Agent(desk, credential)
    headers = agent.headers | {"Idempotency-Key": "once"}
    first = desk.request("POST", OWN, {"subject": "Mouse"}, headers=headers)
    path = "/desk/agents/api/v1/tickets"
    again = desk.request("POST", path, {"subject": "Mouse"}, headers=headers)
    assert (again.data, again.headers["Idempotent-Replayed"]) == (first.body, "true")


def test_a_ticket_is_closed_only_once_its_person_approved_it(desk, agent):
    ticket = agent.post(OWN, {"subject": "Keyboard"}).body["id"]
    asked = agent.post(f"/desk/agents/api/v1/tickets/{ticket}/close-approvals", {}).data
    assert asked["review_url"].startswith(f"{AGENTS}/approvals/")
    closing = f"/desk/agents/api/v1/tickets/close-approvals/{asked['approval_id']}/execute"
    early = agent.post(closing, {"nonce": asked["nonce"]})
    assert (early.status, early.code) == (409, "approval_pending")

    nora = Person(desk, "nora")
    assert "Close this ticket?" in nora.read(urlsplit(asked["review_url"]).path)
    nora.decide(asked, "approve")
    done = agent.post(closing, {"nonce": asked["nonce"]}).data
    assert done["result"] == {"ticket": ticket, "status": "closed"}
    read = agent.get(f"/desk/agents/api/v1/tickets/close-approvals/{asked['approval_id']}").data
    assert (read["status"], read["target_id"]) == ("executed", ticket)
    assert agent.get(f"{OWN}{ticket}/").body["status"] == "closed"


def test_what_no_terms_open_is_closed_to_agents(desk, agent):
    assert agent.post(f"{OWN}2/close/", {}).status == 403
    assert agent.get("/desk/api/v1/token/").status == 403
    hers = agent.get(f"{OWN}1/")
    assert (hers.status, hers.code) == (404, "not_found")
    shouted = agent.post(OWN, {"subject": "PRINTER"})
    assert (shouted.status, shouted.error["fields"]) == (422, ["subject"])
    foreign = agent.headers | {"Origin": "https://app.example"}
    assert desk.request("GET", OWN, headers=foreign).status == 403
    insecure = agent.headers | {"X-Forwarded-Proto": "http"}
    assert desk.request("GET", OWN, headers=insecure).status in {301, 403}
    elsewhere = agent.headers | {"Host": "status.example"}
    assert desk.request("GET", OWN, headers=elsewhere).status == 403
    assert desk.request("GET", "/desk/tickets/", headers=agent.headers).status == 302


COMMENTS = "/desk/agents/api/v1/comments"


@pytest.fixture
def commented(desk, credential):
    """An agent, and the two comments on tickets of nora, as it wrote them."""
    agent = Agent(desk, credential)
    with closing(sqlite3.connect(desk.database, isolation_level=None)) as database:
        database.execute("DELETE FROM helpdesk_comment")
    said = ("It blinks.", "Still.")
    return agent, *(agent.post(COMMENTS, {"ticket": 2, "text": text}).data for text in said)


def test_a_tool_by_hand_knows_records_by_their_numbers_over_both_transports(commented):
    agent, first, second = commented
    listed = agent.get(COMMENTS).body
    assert listed == {"data": [first], "next": first["id"]}
    assert isinstance(first["id"], int)
    following = agent.get(f"{COMMENTS}?after={first['id']}").body
    assert following == {"data": [second], "next": None}
    assert agent.call("comments_list", after=first["id"]) == (False, following)
    read = agent.get(f"{COMMENTS}/{second['id']}").body
    assert read == {"data": second}
    assert agent.call("comments_read", id=second["id"]) == (False, read)


def test_a_number_of_nothing_is_not_found_and_no_page_follows_it(desk, credential):
    agent = Agent(desk, credential)
    for number in ("0", "999999", "01", "x", str(2**63), "-1"):
        assert (number, agent.get(f"{COMMENTS}/{number}").code) == (number, "not_found")
    for after in ("0", "x", "-1"):
        refused = agent.get(f"{COMMENTS}?after={after}")
        assert (refused.code, refused.error["fields"]) == ("validation_failed", ["after"])


def test_a_refusal_of_the_projects_model_is_answered_and_audited(desk):
    connection_id, headers = desk.connect("tickets:write")
    agent = Agent(desk, headers["Authorization"].removeprefix("Bearer "))
    refused = agent.post(COMMENTS, {"ticket": 2, "text": "x" * 501})
    assert (refused.status, refused.error["fields"]) == (422, ["text"])
    heads = dict(line.split(" ", 1) for line in desk.manage("verify_audit").splitlines())
    assert heads[connection_id].startswith("1 ")


def test_the_owner_reads_the_names_of_djangos_own_users_and_the_numbers_of_records(desk, commented):
    olga, admin = Person(desk, "olga"), "/desk/admin/agent_access"
    audit = olga.read(f"{admin}/auditevent/")
    assert re.search(r"field-actor[^>]*>\s*nora", audit)
    [nora] = re.findall(r'<option value="([0-9a-f-]{36})"[^>]*>nora', audit)
    for query in ("q=nora", f"actor={nora}"):
        assert "comments.write" in olga.read(f"{admin}/auditevent/?{query}")
    number = commented[1]["id"]
    receipts = olga.read(f"{admin}/receipt/?q={number}")
    assert re.search(rf"field-record[^>]*>\s*{number}<", receipts)


CONNECT = """
from django.contrib.auth.models import User
from agent_access.connections import ConnectionRequest, create_connection
nora, otto = User.objects.get(username="nora"), User.objects.create_superuser("otto")
request = ConnectionRequest(
    user=nora, scopes=["tickets:read"], days=1, name="Otto's", approver=otto
)
print(create_connection(request)[1])
"""
MAKE = """
from django.contrib.auth.models import User
User.objects.filter(username="otto").update(is_superuser={})
"""


def test_whoever_approved_a_connection_and_loses_the_right_ends_it(desk):
    agent = Agent(desk, desk.run(CONNECT).strip())
    assert agent.get(COMMENTS).status == 200
    for right in (False, True):
        desk.run(MAKE.format(right))
        assert agent.get(COMMENTS).code == "unauthenticated"


def test_the_audit_of_all_that_holds(desk, credential):
    assert "administration" in desk.manage("verify_audit")


def test_the_host_has_nothing_to_mend_and_describes_its_tools(desk):
    desk.manage("makemigrations", "--check", "--dry-run")
    document = json.loads(desk.manage("openapi"))
    OpenAPIV31SpecValidator(document).validate()
    assert "/desk/agents/api/v1/tickets/{id}/close-approvals" in document["paths"]
    [parameter] = document["paths"][f"{COMMENTS}/{{id}}"]["get"]["parameters"]
    assert parameter["schema"]["type"] == "integer"
