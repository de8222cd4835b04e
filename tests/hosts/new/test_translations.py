"""The same project in German: its people read German, its agents and operators English."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from typing_extensions import override

from tests.hosts.new import test_approvals
from tests.hosts.new.conftest import NO_MISTAKES, PASSWORD, MakeProject, Project
from tests.hosts.new.visitors import RESOURCE, Browser, Client

pytestmark = pytest.mark.sqlite  # what pages say does not depend on the database

ADMIN = "/admin/agent_access"
NOTES = "/api/v1/notes"
SCOPES = ("notes:read", "notes:write", "notes:throw_away")
READ_ALOUD = {"alt", "aria-label", "data-copied", "data-label", "placeholder", "title"}

# What both languages share: names, codes, what the project calls its own things, and some words.
SHARED = re.compile(
    r"""
    [^A-Za-z]*
    | .*(\b[Nn]otes?\b|Scribe|Agent\b|olga|nora|Milk|localhost|client\.example).*
    | It\ cannot\ be\ brought\ back\. | Throw\ it\ away | Text
    | \w+([:._]\w+)+ | [\w-]{32,} | \d+\ min\ \d+\ s | (command|http|web|oauth)(\ [0-9.]+)?
    | ok(\ \(.*\))? | conflict | forbidden | unauthenticated | unavailable  # as agents read them
    | Django\ OAuth\ Toolkit | Applications | Grants | \w+\ tokens  # names of the toolkit
    | Administration | Client | ID | Name | Status
    | [AJKR]  # keys
    """,
    re.VERBOSE,
)


class Texts(HTMLParser):
    """Collects what a page shows and what is read aloud of it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.is_code = False
        self.feed(page)

    @override
    def handle_starttag(self, tag, attrs):
        self.is_code = tag in {"script", "style"}
        self.found |= {value for name, value in attrs if name in READ_ALOUD and value}

    @override
    def handle_data(self, data):
        if not self.is_code and data.strip():
            self.found.add(" ".join(data.split()))


class Reader(Browser):
    """A browser whose reader prefers a language."""

    language = "de"

    @override
    def _headers(self) -> dict[str, str]:
        return super()._headers() | {"Accept-Language": self.language}

    def read(self, path, language):
        self.language = language
        page = self.open(path)
        assert page.status == 200
        assert page.headers["Content-Language"] == language
        return page.content.decode()

    def find_english(self, path):
        """Return what the German page has in common with the English one, and should not."""
        german, english = (Texts(self.read(path, language)).found for language in ("de", "en"))
        assert german != english
        return {text for text in german & english if not SHARED.fullmatch(text)}


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> Iterator[Project]:
    """Serve the project of the approvals in German: its tables are the same."""
    project = make_project(test_approvals.SETTINGS)
    project.change_settings("notes.settings_in_german")
    with project.served():
        yield project


def sign_in(project, name):
    reader = Reader(project)
    reader.submit("/sign-in?next=/approvals", {"username": name, "password": PASSWORD})
    return reader


@pytest.fixture(scope="module")
def olga(project):
    return sign_in(project, "olga")


@pytest.fixture(scope="module")
def nora(project):
    return sign_in(project, "nora")


@pytest.fixture(scope="module")
def connection(project):
    return project.connect(*SCOPES)


@pytest.fixture(scope="module")
def note(project, connection):
    """A note of nora."""
    _, agent = connection
    sent = agent | {"Idempotency-Key": "Milk"}
    return project.request("POST", NOTES, {"text": "Milk"}, headers=sent).data["id"]


def prepare(project, agent, note, key):
    """Ask nora to throw the note away; return the path of the page where she decides."""
    path, sent = f"{NOTES}/{note}/throw-away-approvals", agent | {"Idempotency-Key": key}
    asked = project.request("POST", path, {}, headers=sent)
    assert asked.status == 202
    return "/approvals/" + str(asked.data["approval_id"])


def decide(reader, path, decision, **more: str):
    page = reader.open(path).content.decode()
    [fingerprint] = re.findall(r'name="fingerprint" value="(\w+)"', page)
    return reader.submit(path, {"decision": decision, "fingerprint": fingerprint} | more)


def test_the_consent_page_is_german(project, olga):
    project.manage("browser_sign_in", "on")
    client = Client(project)
    path = client.authorize_path(scope="notes:read notes:write", state=None, resource=RESOURCE)
    assert olga.find_english(path) == set()
    text = olga.read(path, "de")
    assert '<html lang="de">' in text
    assert re.search(r"<title>\s*Zugriff erlauben\?\s*</title>", text)
    assert "Wählen Sie die Person" not in text

    olga.language = "de"
    refused = olga.submit(path, {"decision": "allow"})
    text = refused.content.decode()
    assert refused.status == 422
    assert "Wählen Sie die Person, für die der Client handelt." in text
    assert re.search(r"<title>\s*Bitte korrigieren:\s+Zugriff erlauben\?\s*</title>", text)
    lost = olga.open(path.replace(client.client_id, "nobody"))
    assert "Dieser Client ist hier nicht bekannt" in lost.content.decode()


def test_the_inbox_and_the_review_page_are_german_in_every_state(project, nora, connection, note):
    _, agent = connection
    assert nora.find_english("/approvals") == set()
    path = prepare(project, agent, note, "Milk-1")
    assert nora.find_english("/approvals") == set()
    assert nora.find_english(path) == set()
    assert re.search(r"am \d+\. \w+ 20\d\d, \d\d:\d\d CST", nora.read(path, "de"))

    nora.language = "de"
    wrong = decide(nora, path, "reject", reason="x" * 501).content.decode()
    assert "Er darf höchstens 500 Zeichen haben; dieser hat 501." in wrong

    for key, decision in (("Milk-2", "approve"), ("Milk-3", "reject")):
        path = prepare(project, agent, note, key)
        assert decide(nora, path, decision).status == 302
        assert nora.find_english(path) == set()
    assert nora.find_english("/approvals") == set()


def test_the_owners_pages_are_german(project, olga, connection, note):
    pk, agent = connection
    assert project.request("GET", NOTES, headers=agent).status == 200
    prepare(project, agent, note, "Milk-4")
    names = ("accesssettings", "connection", "auditevent", "receipt")
    paths = [f"{ADMIN}/{name}/" for name in names]
    paths += [f"{ADMIN}/connection/add/", f"{ADMIN}/connection/{pk}/"]
    paths += [f"{ADMIN}/connection/revoke/?id={pk}", f"{ADMIN}/accesssettings/access/"]
    paths += [f"{ADMIN}/accesssettings/module-notes/", "/admin/agent_oauth/application/"]
    assert {path: left for path in paths if (left := olga.find_english(path))} == {}
    text = olga.read(f"{ADMIN}/connection/{pk}/", "de")
    assert "Handelt für" in text
    assert re.search(r"\d\d\.\d\d\.20\d\d \d\d:\d\d:\d\d CST", text)
    assert "1 Verbindung widerrufen?" in olga.read(f"{ADMIN}/connection/revoke/?id={pk}", "de")


@pytest.mark.prove
def test_agents_and_operators_read_english(project, connection):
    _, agent = connection
    described = project.manage("openapi")
    assert "Throw a note away: ask for approval" in described
    assert "Genehmig" not in described
    answers = [
        [
            project.request(method, path, body, headers=agent | {"Accept-Language": language})
            for method, path, body in (
                ("GET", "/api/v1/tools", None),
                ("GET", f"{NOTES}?after=x", None),
                ("POST", NOTES, {"text": 5}),
                ("GET", "/api/v1/nothing", None),
            )
        ]
        for language in ("de", "en")
    ]
    german, english = ([answer.body for answer in each] for each in answers)
    for body in (*german, *english):
        body.get("error", {}).pop("request_id", None)
    assert german == english
    assert project.find_mistakes() == NO_MISTAKES
