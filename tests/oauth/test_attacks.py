"""The attacks of RFC 9700 that no other test plays from beginning to end."""

import re

import pytest

from agent_access.models import Connection
from tests.interface.refusals import nothing_changes
from tests.oauth.programs import Browser, answer_of, parameters_of, refusal_of

pytestmark = pytest.mark.django_db

OTHER_VERIFIER = "another-verifier-of-forty-three-characters-00"


def test_a_stolen_code_is_of_no_use_in_another_clients_or_another_transaction(
    program, register_program, obtain_code
):
    """Code injection (4.5): the thief's own transaction has another challenge than the code."""
    code, thief = obtain_code(program), register_program()
    with nothing_changes():
        assert (
            refusal_of(program.exchange(code, code_verifier=OTHER_VERIFIER))[1] == "invalid_grant"
        )
        assert refusal_of(thief.exchange(code))[1] == "invalid_grant"
        assert (
            refusal_of(thief.exchange(code, client_id=program.client_id, code_verifier=None))[0]
            == 400
        )
    assert program.exchange(code).status == 200


def test_no_request_without_a_challenge_makes_a_code_that_needs_no_verifier(
    program, browser, delegate
):
    """PKCE downgrade (4.8): a challenge that is taken out on the way is not forgiven."""
    for downgrade in (
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge": None},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"code_challenge": ""},
    ):
        answer = browser.allow(program.authorize_path(**downgrade), delegate)
        assert answer.status_code != 302 or "error" in parameters_of(answer)
    assert not Connection.objects.exists()


def test_every_answer_says_who_gives_it_and_never_by_what_the_client_sent(
    program, browser, delegate, settings
):
    """Mix-up (4.4): a client tells servers apart by `iss`, which no request moves."""
    path = f"{program.authorize_path()}&iss=https%3A%2F%2Fevil.example"
    told = parameters_of(browser.allow(path, delegate))
    assert told["iss"] == "https://invoices.example"


def test_no_redirect_sends_on_what_was_typed(program, browser, delegate):
    """307 would repeat the owner's password at the client (4.12)."""
    answers = [
        browser.allow(program.authorize_path(), delegate),
        browser.send(program.authorize_path(), {"decision": "refuse"}),
        Browser().open(program.authorize_path()),
    ]
    assert {answer.status_code for answer in answers} == {302}
    assert all("password" not in answer["Location"] for answer in answers)


def test_the_page_names_no_other_host_and_tells_none_where_it_was(path, browser):
    """Leakage by the Referer header (4.2): nothing is loaded, and no link leads to another site."""
    page = browser.open(path)
    assert page["Referrer-Policy"] == "same-origin"
    assert page["Cache-Control"] == "no-store"
    places = re.findall(r'(?:src|href|action|content)="([^"]*//[^"]*)"', page.content.decode())
    assert [place for place in places if not place.startswith("https://invoices.example/")] == []


def test_no_script_of_another_site_reads_an_answer(path, browser, program, code):
    """In-browser flows (4.17) and CORS (2.6): no origin is allowed anywhere."""
    answers = [browser.open(path), program.exchange(code), program.exchange("c" * 43)]
    for answer in answers:
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


@pytest.mark.parametrize("grant", ["client_credentials", "password", "implicit", "", "urn:x"])
def test_no_client_is_anything_by_itself(program, delegate, grant):
    """A client impersonating the resource owner (4.15) needs a token without one."""
    fields = {"grant_type": grant, "client_id": program.client_id, "resource": None}
    fields |= {"username": delegate.email, "password": "a password", "scope": "customers:read"}
    with nothing_changes():
        status, word = refusal_of(program.post_form("/oauth/token", fields))
    assert (status, word) in {(400, "unsupported_grant_type"), (400, "invalid_request")}


def test_a_consent_is_the_owners_in_person(path, browser, delegate):
    """Neither the scopes nor the person come from the client: what is not chosen is not given."""
    fields = answer_of(delegate, scopes=["customers:read", "invoices:execute"])
    with nothing_changes():
        assert browser.send(path, fields).status_code == 422
