"""Authorization requests: what goes back to the client, and what gets a page and goes nowhere."""

import re
from html import escape, unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from agent_access.oauth.authorization import MAX_LENGTH, TOO_LONG
from tests.interface.refusals import nothing_changes
from tests.oauth.programs import (
    BASE_URL,
    RESOURCE,
    RETURN_ADDRESS,
    Browser,
    parameters_of,
    refusal_of,
)
from tests.tool_table import SCOPES

# What is compared and told is the same on both databases.
once = pytest.mark.sqlite

RFC_7636_CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def assert_page(response) -> None:
    assert (response.status_code, "Location" in response) == (400, False)
    assert b"No access can be allowed here" in response.content


def assert_no_way_in(browser, path: str) -> None:
    assert_page(browser.open(path))
    assert_page(browser.send(path, {"decision": "refuse"}))


@pytest.mark.requirement("sign_in.unknown_client")
@pytest.mark.parametrize("query", ["", "client_id=", "client_id=nobody", "client_id=%FF"])
def test_an_unknown_client_gets_a_page_and_no_redirect(program, browser, query):
    with nothing_changes():
        assert_no_way_in(browser, f"{program.authorize_path(client_id=None)}&{query}")


HOST = "https://client.example"
TRICKS = [
    *(f"{HOST}{path}" for path in ("/callback/", "/Callback", "/%63allback", "//callback")),
    *(f"{HOST}/{path}" for path in ("x/../callback", "callback?", "callback?x=1", "callback#x")),
    *(f"{HOST}:{port}/callback" for port in ("443", "8443", "99999", "port")),
    *(f"{HOST}{more}/callback" for more in (".evil.example", "@evil.example", "\\@evil.example")),
    *("https://CLIENT.example/callback", "HTTPS://client.example/callback"),
    *("http://client.example/callback", "//client.example/callback", "/callback"),
    *("https:\\\\client.example/callback", "https://[::1", "javascript:alert(1)"),
    *(f"https://evil.example/{RETURN_ADDRESS}", "http://127.0.0.1:1/callback"),
    *(f"{RETURN_ADDRESS}\n", f" {RETURN_ADDRESS}", f"{RETURN_ADDRESS} https://evil.example"),
]


@once
@pytest.mark.requirement("sign_in.unknown_client", "sign_in.return_addresses")
def test_an_unregistered_return_address_gets_a_page_and_no_redirect(program, browser, subtests):
    with nothing_changes():
        for address in TRICKS:
            with subtests.test(address=address):
                assert_no_way_in(browser, program.authorize_path(redirect_uri=address))


# From what is registered to what is asked.
SAME = [
    ("http://127.0.0.1/cb", "http://127.0.0.1:51234/cb"),
    ("http://localhost/cb", "http://localhost:1/cb"),
    ("http://[::1]/cb", "http://[::1]:65535/cb"),
    ("http://127.0.0.1/cb?a=1", "http://127.0.0.1:9/cb?a=1"),
]
ANOTHER = [
    *(("http://127.0.0.1/cb", f"http://127.0.0.1:{rest}") for rest in ("65536/cb", "0/cb", "9/")),
    *(("http://127.0.0.1/cb", f"http://{host}/cb") for host in ("localhost:9", "127.0.0.1.evil.x")),
    ("http://127.0.0.1/cb", "http://127.0.0.1:9@evil.example/cb"),
    ("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb"),
    ("https://localhost/cb", "https://localhost:9/cb"),
]


@once
@pytest.mark.requirement("sign_in.return_addresses")
@pytest.mark.parametrize(
    ("registered", "asked", "status"),
    [*((*each, 200) for each in SAME), *((*each, 400) for each in ANOTHER)],
)
def test_a_loopback_address_registered_without_a_port_matches_any(
    register_program, browser, registered, asked, status
):
    program = register_program(registered)
    response = browser.open(program.authorize_path(redirect_uri=asked))
    assert response.status_code == status


@once
def test_a_repeated_parameter_gets_a_page(program, browser, subtests):
    for name in ("client_id", "redirect_uri", "scope", "state", "code_challenge"):
        with subtests.test(name=name):
            assert_page(browser.open(program.authorize_path() + f"&{name}=evil"))


OTHER = "https://other.example/mcp"
CHALLENGES = [None, "short", f"{RFC_7636_CHALLENGE}x", "x" * 200, f"{RFC_7636_CHALLENGE[:-1]}="]
WRONG: dict[str, list[dict[str, Any]]] = {
    "invalid_request": [
        {"response_type": None},
        *({"code_challenge": each} for each in CHALLENGES),
        *({"code_challenge_method": each} for each in (None, "plain", "s256")),
        *({"response_mode": each} for each in ("fragment", "form_post", "query.jwt", "Query")),
    ],
    "unsupported_response_type": [
        {"response_type": each} for each in ("token", "code token", "none")
    ],
    "invalid_target": [
        {"resource": each} for each in (None, BASE_URL, f"{RESOURCE}/", OTHER, [RESOURCE, OTHER])
    ],
}


@once
@pytest.mark.requirement("sign_in.pkce", "sign_in.resource_sent", "sign_in.errors")
@pytest.mark.parametrize("decision", [None, "allow", "refuse"])
@pytest.mark.parametrize("error", WRONG)
def test_a_wrong_request_of_a_known_client_goes_back_only_if_the_owner_wants(
    program, browser, subtests, error, decision
):
    with nothing_changes():
        for change in WRONG[error]:
            with subtests.test(change=str(change)):
                path = program.authorize_path(**change)
                sent = {"decision": decision}
                assert_link_back(
                    browser.send(path, sent) if decision else browser.open(path), error
                )


def assert_link_back(response, error: str) -> None:
    """Expect a page, from which only the owner's click leads to the client, with the error."""
    page = response.content.decode()
    assert (response.status_code, "Location" in response) == (400, False)
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


def test_markup_in_the_state_of_a_wrong_request_is_only_a_text(program, browser):
    state = "\"><script>alert(1)</script>'"
    path = program.authorize_path(response_type="token", state=state)
    assert "<script>" not in browser.open(path).content.decode()


@once
@pytest.mark.parametrize(
    ("asked", "offered"),
    [
        (None, SCOPES),
        (" ", SCOPES),
        ("openid profile offline_access", SCOPES),
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


@pytest.mark.requirement("sign_in.unknown_client", "sign_in.return_addresses")
@pytest.mark.parametrize("sent", [None, ""])
def test_a_client_with_several_return_addresses_must_name_one(register_program, browser, sent):
    program = register_program(RETURN_ADDRESS, "http://localhost/callback")
    with nothing_changes():
        assert_no_way_in(browser, program.authorize_path(redirect_uri=sent))


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

    with nothing_changes():
        assert_no_way_in(browser, program.authorize_path(state=f"{longest}xxxx"))


@pytest.mark.sqlite  # no database decides how long an address may be
def test_whoever_is_signed_out_is_told_of_a_request_that_is_too_long_to_come_back_to(program):
    """What the sign-in page comes back to is quoted once more, and so longer."""
    path = program.authorize_path(state="&" * (MAX_LENGTH // 4))
    assert len(urlsplit(path).query) < MAX_LENGTH
    page = Browser().open(path)
    assert_page(page)
    assert TOO_LONG in page.content.decode()


@pytest.mark.parametrize("query", ["tenant=7&x=", "t=%E9", "a=1&&b=2", "a=b;c=d", "a=%2F+%20", ""])
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
        {"user": "1", "client": "x", "allowed": "x", "scopes": "invoices:execute"},
        {"request_uri": "https://evil.example/", "nonce": "n" * 300, "claims": "{}"},
    ],
)
def test_parameters_that_mean_nothing_here_change_nothing(program, browser, delegate, extra):
    response = browser.allow(program.authorize_path(**extra), delegate)
    assert response["Location"].startswith(f"{RETURN_ADDRESS}?")
    assert sorted(parameters_of(response)) == ["code", "iss", "state"]


@pytest.mark.parametrize("sent", [None, ""])
@pytest.mark.parametrize("sent_again", [None, RETURN_ADDRESS])
def test_a_client_with_one_return_address_may_leave_it_out(
    program, browser, delegate, sent, sent_again
):
    """RFC 6749 sections 3.1.2.3 and 4.1.3: then the exchange may leave it out, too."""
    path = program.authorize_path(redirect_uri=sent)
    assert f"<code>{RETURN_ADDRESS}</code>" in browser.open(path).content.decode()
    response = browser.allow(path, delegate)
    assert response["Location"].startswith(f"{RETURN_ADDRESS}?code=")
    code = parameters_of(response)["code"]
    wrong = program.exchange(code, redirect_uri="https://x.example/")
    assert refusal_of(wrong) == (400, "invalid_grant")
    assert program.exchange(code, redirect_uri=sent_again).status == 200
