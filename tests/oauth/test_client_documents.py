"""Clients known by a document: which are believed, when they are read, and for whom."""

import json
from datetime import timedelta
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlsplit

import pytest
from django.utils import timezone
from redis.exceptions import RedisError

from agent_access.errors import UnavailableError
from agent_access.models import AuditEvent, Connection
from agent_access.oauth import client_documents
from agent_access.oauth.fetching import Document
from agent_access.oauth.models import Application
from agent_access.outgoing import OutgoingError
from tests.factories import UserFactory
from tests.interface.refusals import nothing_changes
from tests.oauth.programs import Browser, Program, parameters_of

CLIENT = "https://client.example/oauth/client.json"
RETURN_ADDRESS = "https://client.example/callback"


def describe(**changes: Any) -> dict[str, Any]:
    document = {
        "client_id": CLIENT,
        "client_name": "Ledger agent",
        "redirect_uris": [RETURN_ADDRESS],
    }
    merged = document | changes
    return {name: value for name, value in merged.items() if value is not ...}


USUAL = {
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
}
# The shapes that were published in 2026.
PUBLISHED = {
    "Claude": describe(
        client_id="https://claude.ai/oauth/mcp-oauth-client-metadata",
        redirect_uris=["https://claude.ai/api/mcp/auth_callback"],
        **USUAL | {"grant_types": [*USUAL["grant_types"], "urn:ietf:params:oauth:x"]},
    ),
    "Claude Code": describe(
        client_id="https://claude.ai/oauth/claude-code-client-metadata",
        redirect_uris=["http://localhost/callback", "http://127.0.0.1/callback"],
        **USUAL,
    ),
    "ChatGPT": describe(
        client_id="https://chatgpt.com/oauth/client.json",
        redirect_uris=["https://chatgpt.com/connector_platform_oauth_redirect"],
        **USUAL | {"token_endpoint_auth_method": "private_key_jwt"},
        token_endpoint_auth_methods_supported=["none", "private_key_jwt"],
        jwks_uri="https://chatgpt.com/oauth/jwks.json",
    ),
    "Visual Studio Code": describe(
        client_id="https://vscode.dev/oauth/client-metadata.json",
        redirect_uris=["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
        logo_uri="https://code.visualstudio.com/assets/branding/code-stable.png",
        application_type="native",
        **USUAL,
    ),
}


class Web:
    """What the addresses of the world answer, and which were asked for."""

    def __init__(self) -> None:
        self.documents: dict[str, tuple[bytes, str]] = {}
        self.asked: list[str] = []

    def publish(self, url: str, value: Any, *, cache_control: str = "") -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.documents[url] = (body, cache_control)

    def fetch(self, url: str) -> Document:
        self.asked.append(url)
        if url not in self.documents:
            raise OutgoingError
        return Document(*self.documents[url])


@pytest.fixture
def web(monkeypatch, sign_in_on) -> Web:
    web = Web()
    monkeypatch.setattr(client_documents, "fetch", web.fetch)
    web.publish(CLIENT, describe())
    return web


@pytest.fixture
def known(web) -> Program:
    return Program(client_id=CLIENT, return_address=RETURN_ADDRESS)


@pytest.mark.requirement("sign_in.public_clients")
def test_a_client_known_by_its_document_signs_in(known, web, browser, delegate):
    page = browser.open(known.authorize_path()).content.decode()
    assert "a document at <strong>client.example</strong>" in page
    code = parameters_of(browser.allow(known.authorize_path(), delegate))["code"]
    assert known.exchange(code).status == 200
    held = Connection.objects.get()
    told = (held.client_id, held.client_name, held.client_host)
    assert told == (CLIENT, "Ledger agent", "client.example")
    assert web.asked == [CLIENT]
    registered = AuditEvent.objects.get(action="client:registered")
    assert (registered.target, registered.transport) == (CLIENT, "web")


@pytest.mark.requirement("sign_in.public_clients")
@pytest.mark.parametrize("published", PUBLISHED.values(), ids=PUBLISHED)
def test_the_documents_of_the_known_hosts_are_accepted_under_the_documents_host(
    web, browser, delegate, published
):
    client_id = published["client_id"]
    web.publish(client_id, published)
    address = published["redirect_uris"][0].replace("localhost/", "localhost:51234/")
    program = Program(client_id=client_id, return_address=address)
    code = parameters_of(browser.allow(program.authorize_path(), delegate))["code"]
    assert program.exchange(code).status == 200
    assert Connection.objects.get().client_host == urlsplit(client_id).hostname


@pytest.mark.parametrize("person", ["nobody", "guest"])
def test_only_who_allows_or_asks_makes_us_read_a_document(known, web, company, person):
    browser = Browser(UserFactory.create(is_guest=True) if person == "guest" else None)
    with nothing_changes(but="sessions.Session"):
        browser.open(known.authorize_path())
        for ask in (known.exchange, known.refresh, known.revoke):
            assert ask("x").body["error"] == "invalid_client"
    assert web.asked == []


# What registrations are refused for too, test_registration.py tries in all its forms.
UNFIT_DOCUMENTS = {
    "empty": b"",
    "no JSON": b"not json",
    "no object": b"[]",
    "no UTF-8": b"\xff",
    "another client": describe(client_id=f"{CLIENT}/"),
    "no client": describe(client_id=...),
    "no fit return address": describe(redirect_uris=["http://evil.example/callback"]),
    "another kind of client": describe(grant_types=["client_credentials"]),
    "a secret": describe(client_secret="x"),
    "the end of a secret": describe(client_secret_expires_at=0),
    "a secret at the exchange": describe(token_endpoint_auth_method="client_secret_basic"),
    "a key at the exchange": describe(token_endpoint_auth_method="private_key_jwt"),
}


@pytest.mark.parametrize("published", UNFIT_DOCUMENTS.values(), ids=UNFIT_DOCUMENTS)
def test_an_unfit_document_gets_a_page_and_keeps_nothing(known, web, browser, published):
    web.publish(CLIENT, published)
    with nothing_changes():
        response = browser.open(known.authorize_path())
    assert (response.status_code, "Location" in response) == (400, False)
    assert b"document is not valid" in response.content


@pytest.mark.parametrize(
    "client_id",
    [
        "https://client.example",
        "https://client.example?x=/",
        "https://client.example/a/../client.json",
        "https://client.example/./client.json",
        "https://client.example/a/..",
        "https://user@client.example/client.json",
        "https://client.example:65536/client.json",
        "https://client.example/" + "x" * 300,
    ],
)
def test_an_address_that_no_document_may_have_is_not_asked(web, browser, client_id):
    program = Program(client_id=client_id, return_address=RETURN_ADDRESS)
    assert browser.open(program.authorize_path()).status_code == 400
    assert web.asked == []


UNCOUNTED = [
    (RedisError, "Not available just now"),
    (UnavailableError, "New clients cannot be counted just now; try again in a minute."),
]


@pytest.mark.parametrize(("error", "told"), UNCOUNTED)
def test_where_documents_cannot_be_counted_the_owner_reads_to_come_back(
    known, web, browser, monkeypatch, error, told
):
    monkeypatch.setattr(client_documents, "spend", Mock(side_effect=error))
    browser.client.raise_request_exception = False
    response = browser.open(known.authorize_path())
    assert (response.status_code, told in response.content.decode()) == (503, True)
    assert web.asked == []


def test_a_document_that_cannot_be_read_gets_a_page_and_a_line_in_the_log(web, browser, caplog):
    program = Program(client_id="https://gone.example/client.json")
    response = browser.open(program.authorize_path())
    assert response.status_code == 400
    assert b"document could not be read" in response.content
    assert not Application.objects.exists()
    assert "A client's metadata document could not be fetched: OutgoingError." in caplog.text
    assert "gone.example" not in caplog.text


@pytest.mark.parametrize("published", [None, b"not json"], ids=["unreachable", "unfit"])
def test_a_failure_is_remembered_for_a_minute(known, web, owner, published, clock):
    web.documents.clear()
    if published is not None:
        web.publish(CLIENT, published)
    first = Browser(owner).open(known.authorize_path())
    web.publish(CLIENT, describe())
    clock.shift(timedelta(seconds=59))
    second = Browser(owner).open(known.authorize_path())
    assert (first.status_code, second.status_code, web.asked) == (400, 400, [CLIENT])
    for page in (first, second):
        assert b"It is read again after a minute." in page.content
    clock.shift(timedelta(seconds=1))
    assert Browser(owner).open(known.authorize_path()).status_code == 200
    assert web.asked == [CLIENT] * 2


@pytest.mark.usefixtures("_clock_stands_still")
def test_ten_documents_a_minute_are_read_for_one_address(web, browser, settings):
    settings.AGENT_ACCESS |= {"LIMIT_REGISTER": 10}
    clients = [f"https://client.example/{number}.json" for number in range(11)]
    for client in clients:
        web.publish(client, describe(client_id=client))
    programs = [Program(client_id=client, return_address=RETURN_ADDRESS) for client in clients]
    pages = [browser.open(program.authorize_path()) for program in programs]
    assert [page.status_code for page in pages] == [200] * 10 + [429]
    assert 1 <= int(pages[-1]["Retry-After"]) <= 60
    assert b"try again in the next" in pages[-1].content
    assert web.asked == clients[:10]
    assert browser.open(programs[0].authorize_path()).status_code == 200
    path = programs[10].authorize_path()
    assert browser.open(path, REMOTE_ADDR="192.0.2.2").status_code == 200


@pytest.mark.usefixtures("_clock_stands_still")
def test_strangers_who_register_keep_no_document_out(known, web, browser, settings):
    settings.AGENT_ACCESS |= {"LIMIT_REGISTER": 1}
    assert [known.post_json("/oauth/register", {}).status for _ in range(2)] == [400, 429]
    assert browser.open(known.authorize_path(), REMOTE_ADDR=known.address).status_code == 200


def test_a_document_that_is_kept_sweeps_old_clients_but_not_its_own(known, web, owner, clock):
    Program(client_id="").post_json("/oauth/register", {"redirect_uris": [RETURN_ADDRESS]})
    Browser(owner).open(known.authorize_path())
    assert Application.objects.count() == 2
    clock.shift(timedelta(days=31))
    assert Browser(owner).open(known.authorize_path()).status_code == 200
    assert list(Application.objects.values_list("client_id", flat=True)) == [CLIENT]


@pytest.mark.parametrize(
    ("cache_control", "seconds"),
    [
        ("", 86400),
        ("max-age=3600", 3600),
        ("public, Max-Age=3600", 3600),
        ("max-age=1", 300),
        ("max-age=0", 300),
        ("no-store", 300),
        ("no-cache, max-age=3600", 300),
        ("max-age=999999999", 86400),
        ("max-age=x", 86400),
    ],
)
def test_a_document_is_read_again_when_its_time_is_over(
    known, web, owner, cache_control, seconds, clock
):
    web.publish(CLIENT, describe(), cache_control=cache_control)
    now = timezone.now()
    Browser(owner).open(known.authorize_path())
    clock.move_to(now + timedelta(seconds=seconds) - timedelta(microseconds=1))
    Browser(owner).open(known.authorize_path())
    assert len(web.asked) == 1
    clock.move_to(now + timedelta(seconds=seconds))
    Browser(owner).open(known.authorize_path())
    assert len(web.asked) == 2


def test_a_changed_document_counts_and_one_that_is_gone_is_no_client(known, web, owner, clock):
    assert Browser(owner).open(known.authorize_path()).status_code == 200
    clock.shift(timedelta(days=1))
    web.publish(CLIENT, describe(redirect_uris=["https://client.example/new"]))
    assert Browser(owner).open(known.authorize_path()).status_code == 400
    known.return_address = "https://client.example/new"
    assert Browser(owner).open(known.authorize_path()).status_code == 200
    clock.shift(timedelta(days=1))
    web.documents.clear()
    assert Browser(owner).open(known.authorize_path()).status_code == 400
    assert Application.objects.count() == 1
    assert AuditEvent.objects.filter(action="client:registered").count() == 1
