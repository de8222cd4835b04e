"""Authorization requests: what goes back to the client, and what gets a page and goes nowhere."""

import re
from html import escape, unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from agent_access.oauth.authorization import MAX_LENGTH, TOO_LONG
from agent_access.oauth.models import Application
from tests.oauth.programs import BASE_URL, RESOURCE, RETURN_ADDRESS, Browser, parameters_of
from tests.snapshots import take_snapshot
from tests.tool_table import SCOPES

# What is compared and told is the same on both databases.
once = pytest.mark.sqlite

RFC_7636_CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def assert_page(response) -> None:
    assert response.status_code == 400
    assert "Location" not in response
    assert b"No access can be allowed here" in response.content


@pytest.mark.requirement("sign_in.unknown_client")
def test_an_unknown_client_gets_a_page_and_no_redirect(program, browser, subtests):
    before = take_snapshot()
    unknown = ("", "nobody", "x" * 300, "client%00", "%FF")
    for query in ("", *(f"&client_id={client_id}" for client_id in unknown)):
        with subtests.test(query=query):
            path = program.authorize_path(client_id=None) + query
            assert_page(browser.open(path))
            assert_page(browser.send(path, {"decision": "refuse"}))
    assert take_snapshot() == before


TRICKS = [
    "https://client.example/callback/",
    "https://client.example/Callback",
    "https://client.example/callback?",
    "https://client.example/callback?x=1",
    "https://client.example/callback#",
    "https://client.example/callback#x",
    "https://client.example/%63allback",
    "https://client.example/x/../callback",
    "https://client.example//callback",
    "https://client.example:443/callback",
    "https://client.example:8443/callback",
    "https://client.example:99999/callback",
    "https://client.example:port/callback",
    "https://CLIENT.example/callback",
    "HTTPS://client.example/callback",
    "http://client.example/callback",
    "https://client.example.evil.example/callback",
    "https://client.example@evil.example/callback",
    "https://evil.example/https://client.example/callback",
    "https://client.example\\@evil.example/callback",
    "https:\\\\client.example/callback",
    "//client.example/callback",
    "/callback",
    "https://client.example/callback\n",
    " https://client.example/callback",
    "https://client.example/callback https://evil.example",
    "javascript:alert(1)",
    "http://127.0.0.1:1/callback",
    "https://[::1",
]


@once
@pytest.mark.requirement("sign_in.unknown_client", "sign_in.return_addresses")
def test_an_unregistered_return_address_gets_a_page_and_no_redirect(program, browser, subtests):
    before = take_snapshot()
    for address in TRICKS:
        with subtests.test(address=address):
            path = program.authorize_path(redirect_uri=address)
            assert_page(browser.open(path))
            assert_page(browser.send(path, {"decision": "refuse"}))
    assert take_snapshot() == before


@once
@pytest.mark.requirement("sign_in.return_addresses")
@pytest.mark.parametrize(
    ("registered", "asked", "known"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:51234/cb", True),
        ("http://localhost/cb", "http://localhost:1/cb", True),
        ("http://[::1]/cb", "http://[::1]:65535/cb", True),
        ("http://127.0.0.1", "http://127.0.0.1:9", True),
        ("http://127.0.0.1/cb?a=1", "http://127.0.0.1:9/cb?a=1", True),
        ("http://127.0.0.1/cb", "http://127.0.0.1:65536/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:0/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:9/", False),
        ("http://127.0.0.1/cb", "http://localhost:9/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:9@evil.example/cb", False),
        ("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", False),
        ("http://127.0.0.1:1/cb", "http://127.0.0.1/cb", False),
        ("https://client.example/cb", "https://client.example:9/cb", False),
        ("https://localhost/cb", "https://localhost:9/cb", False),
    ],
)
def test_a_loopback_address_registered_without_a_port_matches_any(
    register_program, browser, registered, asked, known
):
    program = register_program(registered)
    response = browser.open(program.authorize_path(redirect_uri=asked))
    assert response.status_code == (200 if known else 400)


@once
def test_a_repeated_parameter_gets_a_page(program, browser, subtests):
    for name in ("client_id", "redirect_uri", "scope", "state", "code_challenge"):
        with subtests.test(name=name):
            assert_page(browser.open(program.authorize_path() + f"&{name}=evil"))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"response_type": None}, "invalid_request"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"response_type": "code token"}, "unsupported_response_type"),
    ({"response_type": "none"}, "unsupported_response_type"),
    ({"code_challenge": None}, "invalid_request"),
    ({"code_challenge": "short"}, "invalid_request"),
    ({"code_challenge": RFC_7636_CHALLENGE + "x"}, "invalid_request"),
    ({"code_challenge": "x" * 200}, "invalid_request"),
    ({"code_challenge": RFC_7636_CHALLENGE[:-1] + "="}, "invalid_request"),
    ({"code_challenge_method": None}, "invalid_request"),
    ({"code_challenge_method": "plain"}, "invalid_request"),
    ({"code_challenge_method": "s256"}, "invalid_request"),
    ({"response_mode": "fragment"}, "invalid_request"),
    ({"response_mode": "form_post"}, "invalid_request"),
    ({"response_mode": "query.jwt"}, "invalid_request"),
    ({"response_mode": "Query"}, "invalid_request"),
    ({"resource": None}, "invalid_target"),
    ({"resource": BASE_URL}, "invalid_target"),
    ({"resource": f"{RESOURCE}/"}, "invalid_target"),
    ({"resource": "https://other.example/mcp"}, "invalid_target"),
    ({"resource": [RESOURCE, "https://other.example/mcp"]}, "invalid_target"),
]


@once
@pytest.mark.requirement("sign_in.pkce", "sign_in.resource_sent", "sign_in.errors")
@pytest.mark.parametrize("decision", [None, "allow", "refuse"])
def test_a_wrong_request_of_a_known_client_goes_back_only_if_the_owner_wants(
    program, browser, subtests, decision
):
    before = take_snapshot()
    for change, error in WRONG:
        with subtests.test(change=str(change)):
            path = program.authorize_path(**change)
            opened = browser.send(path, {"decision": decision}) if decision else browser.open(path)
            assert_link_back(opened, error)
    assert take_snapshot() == before


def assert_link_back(response, error: str) -> None:
    """Expect a page, from which only the owner's click leads to the client, with the error."""
    page = response.content.decode()
    assert response.status_code == 400
    assert "Location" not in response
    assert "Allow access" not in page
    assert f"<code>{RETURN_ADDRESS}</code>" in page
    [(address, label)] = re.findall(r'href="(https://[^"]+)"[^>]*>([^<]+)</a>', page)
    answer = dict(parse_qsl(urlsplit(unescape(address)).query))
    assert label == "Return to client.example"
    assert address.startswith(f"{RETURN_ADDRESS}?")
    assert (answer["error"], answer["state"], answer["iss"]) == (error, "a state", BASE_URL)
    assert f"<code>{error}</code>" in page
    assert f"For the client's developers: {answer['error_description']}</p>" in unescape(page)
    assert "code" not in answer


def test_a_wrong_request_of_an_allowed_client_goes_nowhere_by_itself_either(program, browser, pair):
    response = browser.open(program.authorize_path(response_type="token"))
    assert (response.status_code, "Location" in response) == (400, False)


def test_markup_in_the_state_of_a_wrong_request_is_only_a_text(program, browser):
    state = "\"><script>alert(1)</script>'"
    path = program.authorize_path(response_type="token", state=state)
    page = browser.open(path).content.decode()
    assert "<script>" not in page
    assert page.count("javascript:") == 0


@once
@pytest.mark.parametrize(
    ("asked", "offered"),
    [
        (None, SCOPES),
        ("", SCOPES),
        (" ", SCOPES),
        ("openid profile offline_access", SCOPES),
        ("everything", SCOPES),
        ("customers:read offline_access", ("customers:read",)),
        ("openid people:read  customers:read people:read", ("customers:read", "people:read")),
        ("CUSTOMERS:READ invoices:read,people:read invoices:read", ("invoices:read",)),
        ("documents.list people:read", ("people:read",)),
    ],
)
def test_scopes_that_are_not_ours_are_ignored(program, browser, delegate, asked, offered):
    """If none of ours is left, it is as if none had been asked for."""
    path = program.authorize_path(scope=asked)
    page = browser.open(path).content.decode()
    boxes = re.findall(r'<input type="checkbox"[^>]*value="([^"]+)"', page)
    assert tuple(boxes) == offered
    code = parameters_of(browser.allow(path, delegate, scopes=offered))["code"]
    assert program.exchange(code).body["scope"] == " ".join(offered)


def test_a_scope_that_was_not_asked_for_cannot_be_allowed(program, browser, delegate):
    path = program.authorize_path(scope="customers:read offline_access")
    before = take_snapshot()
    for scopes in (["invoices:execute"], ["offline_access"], ["customers:read", "offline_access"]):
        assert browser.allow(path, delegate, scopes=scopes).status_code == 422
    assert take_snapshot() == before


@pytest.mark.requirement("sign_in.unknown_client", "sign_in.return_addresses")
@pytest.mark.parametrize("sent", [None, ""])
def test_a_client_with_several_return_addresses_must_name_one(register_program, browser, sent):
    program = register_program(RETURN_ADDRESS, "http://localhost/callback")
    before, path = take_snapshot(), program.authorize_path(redirect_uri=sent)
    assert_page(browser.open(path))
    assert_page(browser.send(path, {"decision": "refuse"}))
    assert take_snapshot() == before


@pytest.mark.parametrize("state", [None, "", "a b&c=d#e%20\u00e4", "x" * 2000])
def test_the_state_comes_back_as_it_was_sent(program, browser, delegate, state):
    answer = parameters_of(browser.allow(program.authorize_path(state=state), delegate))
    assert answer.get("state") == (state or None)


def test_a_request_has_room_for_its_answer_or_makes_no_connection(
    register_program, browser, delegate
):
    program = register_program("https://client.example/".ljust(2000, "a"))
    longest = "x" * (MAX_LENGTH - len(urlsplit(program.authorize_path(state="")).query))
    response = browser.allow(program.authorize_path(state=longest), delegate)
    assert parameters_of(response)["state"] == longest

    before, path = take_snapshot(), program.authorize_path(state=f"{longest}xxxx")
    assert_page(browser.open(path))
    assert_page(browser.send(path, {"decision": "allow"}))
    assert take_snapshot() == before


@pytest.mark.sqlite  # no database decides how long an address may be
def test_whoever_is_signed_out_is_told_of_a_request_that_is_too_long_to_come_back_to(program):
    """What the sign-in page comes back to is quoted once more, and so longer."""
    path = program.authorize_path(state="&" * (MAX_LENGTH // 4))
    assert len(urlsplit(path).query) < MAX_LENGTH
    page = Browser().open(path)
    assert_page(page)
    assert TOO_LONG in page.content.decode()


def test_the_parameters_of_a_return_address_stay(register_program, browser, delegate):
    program = register_program("https://client.example/cb?tenant=7&x=")
    response = browser.allow(program.authorize_path(), delegate)
    answer = parameters_of(response)
    assert (answer["tenant"], answer["x"], answer["iss"]) == ("7", "", BASE_URL)
    assert sorted(answer) == ["code", "iss", "state", "tenant", "x"]
    assert program.exchange(answer["code"]).status == 200


@pytest.mark.parametrize("query", ["t=%E9", "flag", "a=1&&b=2", "a=b;c=d", "a=%2F+%20", "a=/?", ""])
def test_the_query_of_a_return_address_stays_as_it_was_registered(
    register_program, browser, delegate, query
):
    """RFC 6749 section 3.1.2: it "MUST be retained"."""
    address = f"https://client.example/cb?{query}"
    program = register_program(address)
    start = f"{address}&" if query else address
    allowed = browser.allow(program.authorize_path(), delegate)["Location"]
    refused = browser.send(program.authorize_path(), {"decision": "refuse"})["Location"]
    returned = browser.open(program.authorize_path(response_type="token")).content.decode()
    assert allowed.startswith(f"{start}code=")
    assert refused.startswith(f"{start}error=access_denied&state=")
    assert f'href="{escape(start)}error=unsupported_response_type&amp;' in returned
    assert program.exchange(dict(parse_qsl(urlsplit(allowed).query))["code"]).status == 200


@pytest.mark.parametrize(
    "extra",
    [
        {"response_mode": "query"},
        {"response_mode": ""},
        {"user": "1", "client": "x", "allowed": "x", "scopes": "invoices:execute"},
        {"request_uri": "https://evil.example/", "nonce": "n" * 300, "claims": "{}"},
    ],
)
def test_parameters_that_mean_nothing_here_change_nothing(program, browser, delegate, extra):
    response = browser.allow(program.authorize_path(**extra), delegate)
    assert response["Location"].startswith(f"{RETURN_ADDRESS}?")
    assert sorted(parameters_of(response)) == ["code", "iss", "state"]


def test_a_client_forgotten_between_page_and_decision_gets_nothing(program, browser, delegate):
    path = program.authorize_path()
    assert browser.open(path).status_code == 200
    Application.objects.all().delete()
    assert_page(browser.allow(path, delegate))
