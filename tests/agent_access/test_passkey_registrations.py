"""New passkeys that no authenticator made: each is refused, whatever its bytes are."""

import random
from typing import Any

import orjson
import pytest
from django.db import transaction
from django.utils import timezone
from typing_extensions import override

from agent_access.passkeys.challenges import challenge_bytes, make_challenge
from agent_access.passkeys.models import Challenge
from agent_access.passkeys.registrations import (
    Registered,
    RegistrationRefusedError,
    verify_registration,
)
from tests.passkeys import SoftPasskey, decode, encode, to_cbor

pytestmark = pytest.mark.django_db

SESSION = "a" * 64
MUTATIONS = 60
MADE_UP: list[Any] = [None, True, -1, 1.5, "", "\0", "é", "=", "A", "a" * 30_000, [], {}, [[]]]


@pytest.fixture
def challenge(delegate) -> Challenge:
    return make_challenge("register", session=SESSION, person=delegate)


def verify(text: str, person: Any) -> Registered:
    """Verify it, and undo that, so that the challenge is as good as new."""
    with transaction.atomic():
        made = verify_registration(
            text, "register", session=SESSION, person=person, now=timezone.now()
        )
        transaction.set_rollback(True)
    return made


def assert_refused(sent: Any, person: Any) -> None:
    text = sent if isinstance(sent, str) else orjson.dumps(sent).decode()
    with pytest.raises(RegistrationRefusedError):
        verify(text, person)
    assert not Challenge.objects.exclude(used_at=None).exists()


@pytest.mark.parametrize("is_synced", [True, False])
def test_a_registration_says_what_the_authenticator_made(challenge, delegate, is_synced):
    soft = SoftPasskey(counter=7, is_synced=is_synced)
    assert verify(soft.register(challenge_bytes(challenge)), delegate) == Registered(
        credential_id=encode(soft.credential_id),
        public_key=encode(soft.public_key),
        counter=7,
        is_synced=is_synced,
    )


def test_made_up_members_are_refused(challenge, delegate):
    sent = orjson.loads(SoftPasskey().register(challenge_bytes(challenge)))
    for value in MADE_UP:
        assert_refused({**sent, "id": value}, delegate)
        assert_refused({**sent, "response": value}, delegate)
        for member in ("clientDataJSON", "attestationObject"):
            assert_refused({**sent, "response": {**sent["response"], member: value}}, delegate)
    for text in ("", "\0", "null", "[]", "0", "{}", "NaN", "[" * 19_000, "\ud800"):
        assert_refused(text, delegate)


def test_an_assertion_is_no_registration(challenge, delegate):
    assert_refused(SoftPasskey().sign(challenge_bytes(challenge)), delegate)


def test_an_id_that_is_not_the_one_within_is_refused(challenge, delegate):
    sent = orjson.loads(SoftPasskey().register(challenge_bytes(challenge)))
    assert_refused({**sent, "id": encode(b"another")}, delegate)


def test_a_key_that_is_none_is_refused(challenge, delegate):
    x, y = b"\x01" * 32, b"\x02" * 32  # no point of the curve
    for key in (
        {},
        {1: 2, 3: -7, -1: 1, -2: x, -3: y},
        {1: 2, 3: -7, -1: 9, -2: x, -3: y},
        {1: 2, 3: -999, -1: 1, -2: x, -3: y},
        {1: 3, 3: -257, -1: b"", -2: b""},
    ):
        soft = WithKey(written=to_cbor(key))
        assert_refused(soft.register(challenge_bytes(challenge)), delegate)


class WithKey(SoftPasskey):
    """A passkey that says that its public key is something else."""

    def __init__(self, *, written: bytes) -> None:
        super().__init__()
        self.written = written

    @property
    @override
    def public_key(self) -> bytes:
        return self.written


def test_bytes_changed_by_chance_raise_nothing_else(challenge, delegate):
    sent = orjson.loads(SoftPasskey().register(challenge_bytes(challenge)))
    whole = decode(sent["response"]["attestationObject"])
    chance = random.Random(44)  # noqa: S311  the same changes each time
    refused = 0
    for _ in range(MUTATIONS):
        changed = bytearray(whole[: chance.choice([len(whole), chance.randrange(len(whole))])])
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(changed) + 1)
            changed[place : place + 1] = chance.randbytes(1)
        sent["response"]["attestationObject"] = encode(bytes(changed))
        try:
            verify(orjson.dumps(sent).decode(), delegate)
        except RegistrationRefusedError:
            refused += 1
    assert refused > MUTATIONS / 2
