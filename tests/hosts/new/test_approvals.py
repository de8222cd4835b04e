"""The same project with an act of its own that a person approves: an agent asks, nora decides."""

import re
import sqlite3
from contextlib import closing
from html import unescape
from urllib.parse import urlsplit

import pytest

from tests.hosts.new.conftest import NO_MISTAKES, PASSWORD, Project
from tests.hosts.new.visitors import Browser

# What the engine does on both databases is asked by its own tests.
pytestmark = pytest.mark.sqlite

SETTINGS = "notes.settings_with_approvals"

SCOPES = ("notes:read", "notes:write", "notes:throw_away")
NOTES = "/api/v1/notes"
APPROVALS = f"{NOTES}/throw-away-approvals"


def change(project: Project, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(project.database, isolation_level=None)) as database:
        database.execute(statement, values)


class Agent:
    """An agent of nora, over one of the transports, with keys of its own."""

    def __init__(self, project: Project, transport: str) -> None:
        self.project, self.transport = project, transport
        _, self.headers = project.connect(*SCOPES)
        self.keys = 0

    def call(self, tool, path, *, target, key=None, **arguments: str):
        """Return the code of a failure, or None, and what was answered."""
        self.keys += 1
        key = key or f"key-{self.keys}"
        if self.transport == "mcp":
            given = {"id": target, "idempotency_key": key} | arguments
            if tool.endswith("_approval"):
                del given["idempotency_key"]
            call = {"name": tool, "arguments": given}
            result = self.project.call_mcp("tools/call", call, headers=self.headers).body["result"]
            told = result["structuredContent"]
            return told.get("error", {}).get("code"), told.get("data")
        method = "GET" if tool.endswith("_approval") else "POST"
        headers = self.headers | ({} if method == "GET" else {"Idempotency-Key": key})
        body = None if method == "GET" else arguments
        answer = self.project.request(method, path, body, headers=headers)
        return answer.body.get("error", {}).get("code"), answer.body.get("data")

    def write(self, text: str) -> str:
        self.keys += 1
        headers = self.headers | {"Idempotency-Key": f"key-{self.keys}"}
        written = self.project.request("POST", NOTES, {"text": text}, headers=headers)
        return str(written.data["id"])

    def prepare(self, note: str):
        path = f"{NOTES}/{note}/throw-away-approvals"
        return self.call("notes_throw_away_prepare", path, target=note)

    def read(self, asked):
        pk = asked["approval_id"]
        return self.call("notes_throw_away_approval", f"{APPROVALS}/{pk}", target=pk)

    def execute(self, asked, **changes: str):
        pk = asked["approval_id"]
        arguments = {"nonce": asked["nonce"]} | changes
        return self.call("notes_throw_away", f"{APPROVALS}/{pk}/execute", target=pk, **arguments)


@pytest.fixture(scope="module")
def agents(project):
    """Two agents of nora: making a connection starts a process, which takes seconds."""
    return {transport: Agent(project, transport) for transport in ("http", "mcp")}


@pytest.fixture(params=["http", "mcp"])
def agent(project, agents, request):
    change(project, "DELETE FROM notes_note")
    return agents[request.param]


@pytest.fixture(scope="module")
def nora(project):
    return sign_in(project, "nora")


def sign_in(project: Project, name: str) -> Browser:
    browser = Browser(project)
    browser.submit("/sign-in?next=/approvals", {"username": name, "password": PASSWORD})
    return browser


def path_of(asked) -> str:
    return str(urlsplit(asked["review_url"]).path)


def read_page(answer) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", answer.content.decode())).split())


def decide(browser, asked, decision, **more: str):
    path = path_of(asked)
    page = browser.open(path).content.decode()
    [fingerprint] = re.findall(r'name="fingerprint" value="(\w+)"', page)
    return browser.submit(path, {"decision": decision, "fingerprint": fingerprint} | more)


def test_the_project_has_nothing_to_mend(project):
    assert project.find_mistakes() == NO_MISTAKES


def test_a_note_is_thrown_away_once_its_person_approved_it(project, agent, nora):
    note = agent.write("Milk & honey")
    failed, asked = agent.prepare(note)
    assert failed is None
    assert (asked["status"], asked["target_id"]) == ("pending", note)
    assert asked["facts"] == {"text": "Milk & honey"}
    assert agent.execute(asked) == ("approval_pending", None)
    assert "Throw a note away" in read_page(nora.open("/approvals"))

    page = read_page(nora.open(path_of(asked)))
    for said in ("Throw this note away?", "Milk & honey", "It cannot be brought back.", "Reject"):
        assert said in page
    assert decide(nora, asked, "approve").status == 302
    assert agent.read(asked)[1]["status"] == "approved"
    assert "Nothing has been done yet" in read_page(nora.open(path_of(asked)))

    told = {"approval_id": asked["approval_id"], "status": "executed"}
    done = (None, told | {"result": {"thrown_away": "Milk & honey"}})
    assert agent.execute(asked, key="execute") == done
    assert agent.execute(asked, key="execute") == done
    assert agent.execute(asked, key="another") == ("approval_used", None)
    assert project.request("GET", NOTES, headers=agent.headers).data == []
    assert agent.read(asked)[1]["status"] == "executed"
    assert "The agent did it on" in read_page(nora.open(path_of(asked)))
    assert path_of(asked) in nora.open("/approvals").content.decode()


def test_a_rejected_note_stays(project, agent, nora):
    _, asked = agent.prepare(agent.write("Milk"))
    assert decide(nora, asked, "reject", reason="I still need it.").status == 302
    assert agent.execute(asked) == ("approval_rejected", None)
    assert agent.read(asked)[1]["rejection_reason"] == "I still need it."
    assert [note["text"] for note in notes_of(project, agent)] == ["Milk"]


def notes_of(project, agent):
    return project.request("GET", NOTES, headers=agent.headers).data


def test_a_note_that_changed_is_not_thrown_away(project, agent, nora):
    _, asked = agent.prepare(agent.write("Milk"))
    assert decide(nora, asked, "approve").status == 302
    change(project, "UPDATE notes_note SET text = 'Honey'")
    assert agent.execute(asked) == ("approval_stale", None)
    assert agent.read(asked)[1]["stale_fields"] == ["text"]
    page = read_page(nora.open(path_of(asked)))
    assert "Text Milk Honey" in page
    assert [note["text"] for note in notes_of(project, agent)] == ["Honey"]


def test_a_request_for_a_note_that_is_gone_leaves_nothing_to_decide(project, agent, nora):
    _, asked = agent.prepare(agent.write("Milk"))
    change(project, "DELETE FROM notes_note")
    assert agent.read(asked) == ("not_found", None)
    page = nora.open(path_of(asked))
    assert "A request about something that you may not see" in read_page(page)
    assert "There is nothing left for you to decide." in read_page(page)
    assert "Milk" not in read_page(page)
    assert path_of(asked) not in nora.open("/approvals").content.decode()
    assert agent.execute(asked) == ("not_found", None)


def test_another_connection_another_nonce_and_another_person_find_nothing(
    project, agent, agents, nora
):
    note = agent.write("Milk")
    _, asked = agent.prepare(note)
    [other] = (each for each in agents.values() if each is not agent)
    assert other.read(asked) == other.execute(asked) == ("not_found", None)
    assert agent.execute(asked, nonce="wrong") == ("not_found", None)
    assert sign_in(project, "olga").open(path_of(asked)).status == 404
    stranger = Browser(project).open(path_of(asked))
    assert (stranger.status, urlsplit(stranger.headers["Location"]).path) == (302, "/sign-in")
    olga = "(SELECT id FROM notes_user WHERE username = 'olga')"
    change(project, f"UPDATE notes_note SET owner_id = {olga}")  # noqa: S608  constants only
    assert agent.prepare(note) == ("not_found", None)


def test_the_page_takes_no_form_without_its_token(project, agent, nora):
    _, asked = agent.prepare(agent.write("Milk"))
    cookies = {"Cookie": "; ".join(f"{name}={each.value}" for name, each in nora.cookies.items())}
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    forged = project.request("POST", path_of(asked), b"decision=approve", headers=cookies | form)
    assert forged.status == 403
    assert agent.read(asked)[1]["status"] == "pending"
