"""What a passkey proves, and everything that proves nothing."""

import json
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import transaction
from django.utils import timezone

from agent_access.passkeys.assertions import AssertionRefusedError, verify_assertion
from agent_access.passkeys.challenges import LASTS, challenge_bytes, make_challenge
from agent_access.passkeys.models import Challenge, Passkey
from tests.factories import UserFactory
from tests.passkeys import ORIGIN, SoftPasskey

# What is read here asks no database.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

SESSION = "a" * 64


@pytest.fixture
def soft() -> SoftPasskey:
    return SoftPasskey(counter=5)


@pytest.fixture
def kept(soft, delegate):
    return soft.keep_for(delegate)


def ask(person, purpose="add", session=SESSION) -> bytes:
    return challenge_bytes(make_challenge(purpose, session=session, person=person))


def verify(text, person, *, purpose="add", session=SESSION, now=None):
    with transaction.atomic():
        return verify_assertion(
            text, purpose, session=session, person=person, now=now or timezone.now()
        )


def assert_refused(text: str, person: Any, **told: Any) -> None:
    before = [*Passkey.objects.values(), *Challenge.objects.values()]
    with pytest.raises(AssertionRefusedError):
        verify(text, person, **told)
    assert [*Passkey.objects.values(), *Challenge.objects.values()] == before


def test_an_assertion_proves_who_used_which_passkey_for_what(soft, kept, delegate):
    now = timezone.now()
    proven = verify(soft.sign(ask(delegate)), delegate, now=now)
    assert proven.passkey == kept
    assert proven.is_on_this_device
    assert proven.content["purpose"] == "add"
    assert proven.content["user"] == str(delegate.pk)
    kept.refresh_from_db()
    assert (kept.counter, kept.last_used_at) == (6, now)


def test_an_assertion_to_sign_in_says_whose_passkey_it_is(soft, kept, delegate):
    text = soft.sign(ask(None, "sign-in"))
    assert verify(text, None, purpose="sign-in").passkey.person == delegate


def test_an_authenticator_that_never_counts_may_sign_again(delegate):
    soft = SoftPasskey()
    soft.keep_for(delegate)
    for _ in range(2):
        verify(soft.sign(ask(delegate)), delegate)


def test_an_assertion_is_used_once(soft, kept, delegate):
    text = SoftPasskey.sign(soft, ask(delegate))
    verify(text, delegate)
    assert_refused(text, delegate)


@pytest.mark.parametrize(
    "lie",
    [
        {"verifies": False},
        {"is_present": False},
        {"origin": "https://invoices.example.attacker.example"},
        {"origin": f"{ORIGIN}:8443"},
        {"rp_id": "attacker.example"},
        {"is_framed": True},
        {"counter": 5},
        {"counter": 0},
    ],
    ids=str,
)
def test_a_lie_of_the_browser_or_the_authenticator_is_refused(soft, kept, delegate, lie):
    assert_refused(soft.sign(ask(delegate), **lie), delegate)


def test_another_key_is_refused(soft, kept, delegate):
    assert_refused(soft.sign(ask(delegate), key=SoftPasskey().key), delegate)


def test_a_challenge_that_nobody_stored_is_refused(soft, kept, delegate):
    ask(delegate)
    assert_refused(soft.sign(b"0" * 32), delegate)


@pytest.mark.parametrize(
    "told",
    [{"purpose": "remove"}, {"session": "b" * 64}, {"now": timezone.now() + LASTS}],
    ids=["purpose", "session", "time"],
)
def test_another_purpose_session_or_time_is_refused(soft, kept, delegate, told):
    if "now" in told:
        told = {"now": timezone.now() + LASTS + timedelta(seconds=1)}
    assert_refused(soft.sign(ask(delegate)), delegate, **told)


def test_another_person_is_refused(soft, kept, delegate):
    stranger = UserFactory()
    for asked_of in (stranger, delegate):
        assert_refused(soft.sign(ask(asked_of)), stranger)


def test_a_removed_passkey_is_refused(soft, delegate):
    soft.keep_for(delegate, removed_at=timezone.now())
    assert_refused(soft.sign(ask(delegate)), delegate)


def test_the_answer_to_adding_a_passkey_is_no_assertion(soft, kept, delegate):
    assert_refused(soft.register(ask(delegate)), delegate)


MADE_UP: list[Any] = [
    None,
    True,
    0,
    -1,
    10**400,
    1.5,
    "",
    "\0",
    "é",
    "=",
    "a" * 30_000,
    [],
    {},
    [[]],
]


@pytest.mark.parametrize("member", ["id", "response"])
def test_made_up_members_are_refused(soft, kept, delegate, member):
    sent = orjson.loads(soft.sign(ask(delegate)))
    for value in MADE_UP:
        assert_refused(write({**sent, member: "MADE-UP"}, value), delegate)


def test_members_that_nothing_reads_may_be_anything(soft, kept, delegate):
    values: list[Any] = [None, True, -1, 1.5, "\0", [[]], {}]
    for value in values:
        sent = orjson.loads(soft.sign(ask(delegate)))
        changed = dict.fromkeys(["rawId", "type", "other", "clientExtensionResults"], "MADE-UP")
        verify(write({**sent, **changed}, value), delegate)


@pytest.mark.parametrize("member", ["clientDataJSON", "authenticatorData", "signature"])
def test_made_up_parts_of_the_response_are_refused(soft, kept, delegate, member):
    sent = orjson.loads(soft.sign(ask(delegate)))
    sent["response"][member] = "MADE-UP"
    for value in MADE_UP:
        assert_refused(write(sent, value), delegate)


@pytest.mark.parametrize("member", ["type", "challenge", "origin", "crossOrigin", "topOrigin"])
def test_made_up_client_data_is_refused_though_it_is_signed(soft, kept, delegate, member):
    challenge = ask(delegate)
    for value in MADE_UP:
        assert_refused(soft.sign(challenge, says={member: value}), delegate)


@pytest.mark.parametrize(
    "text",
    [
        *("", "\0", "null", "[]", "0", '"text"', "{}", "NaN", "1e999", "\ud800"),
        *("[" * 19_000, "[" * 50_000, '{"a":' * 3_000),
        *('{"id":"\\ud800","response":{}}', '{"id":"a","response":[]}'),
    ],
    ids=lambda text: f"{len(text)}: {text[:9]!a}",
)
def test_any_other_text_is_refused(kept, delegate, text):
    ask(delegate)
    assert_refused(text, delegate)


@pytest.mark.parametrize("written", ["{}=", " {}", "{}\n", "{}==", "{}!"], ids=ascii)
@pytest.mark.parametrize("member", ["clientDataJSON", "authenticatorData", "signature"])
def test_base64_written_otherwise_than_browsers_do_is_refused(
    soft, kept, delegate, member, written
):
    """What is kept can be read by every decoder, however strict."""
    sent = orjson.loads(soft.sign(ask(delegate)))
    sent["response"][member] = written.format(sent["response"][member])
    assert_refused(orjson.dumps(sent).decode(), delegate)


def write(sent: object, value: object) -> str:
    """Return JSON with the value where "MADE-UP" is; its numbers have any number of digits."""
    return orjson.dumps(sent).decode().replace('"MADE-UP"', json.dumps(value))
