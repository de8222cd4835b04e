"""What outsiders prove, spoilt: passkeys that are added or used, and stamps of an authority."""

import json
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from rfc3161_client import HashAlgorithm, TimestampRequestBuilder, decode_timestamp_response

from agent_access import stamps
from agent_access.passkeys.assertions import AssertionRefusedError, verify_assertion
from agent_access.passkeys.challenges import challenge_bytes, make_challenge
from agent_access.passkeys.models import Challenge, Passkey
from agent_access.passkeys.registrations import RegistrationRefusedError, verify_registration
from agent_access.verification import read_heads, write_heads
from tests.agent_access.stamping import Authority, make_authority
from tests.fuzzing.effort import tally, try_hard
from tests.fuzzing.mutations import ODD_BYTES, ODD_VALUES, changed, spoilt_bytes, spoilt_values
from tests.passkeys import SoftPasskey, encode, to_cbor

# The bytes are read before the database is asked.
pytestmark = [pytest.mark.sqlite, pytest.mark.django_db]

SESSION = "a" * 64


@st.composite
def spoilt_credentials(draw: st.DrawFn, text: str) -> str:
    """Draw what a browser sends with its bytes spoilt within, or its JSON around them."""
    sent = json.loads(text)
    member = draw(st.sampled_from([*sorted(sent["response"]), "", "", "id"]))
    if not member:
        return json.dumps(draw(spoilt_values(sent)))
    path = ("id",) if member == "id" else ("response", member)
    found = sent["id"] if member == "id" else sent["response"][member]
    if not isinstance(found, str) or draw(st.integers(0, 9)) == 0:
        return json.dumps(changed(sent, path, draw(ODD_VALUES)))
    raw = urlsafe_b64decode(found + "=" * (-len(found) % 4))
    for _ in range(draw(st.integers(1, 3))):
        raw = draw(spoilt_bytes(raw))
    return json.dumps(changed(sent, path, encode(raw)))


def test_no_spoilt_registration_adds_another_passkey_than_the_authenticator_made(delegate):
    challenge = make_challenge("register", session=SESSION, person=delegate)
    soft = SoftPasskey(counter=7)
    whole = soft.register(challenge_bytes(challenge))
    trusted = {"session": SESSION, "person": delegate, "now": timezone.now()}

    @try_hard(12, long=200)
    @given(spoilt_credentials(whole))
    def fuzz(text: str) -> None:
        tally["registrations"] += 1
        with transaction.atomic():
            try:
                made = verify_registration(text, "register", **trusted)
            except RegistrationRefusedError:
                return
            finally:
                transaction.set_rollback(True)
        # Nothing of a passkey is signed when it is added, but what is kept can be read again.
        raw = urlsafe_b64decode(made.public_key + "=" * (-len(made.public_key) % 4))
        assert made.credential_id == json.loads(text)["id"]
        assert 0 < len(raw) < len(whole)
        assert 0 <= made.counter < 2**32

    fuzz()
    assert not Challenge.objects.exclude(used_at=None).exists()


CBOR = st.sampled_from(
    (
        *(
            b"\xa1" * 2000,
            b"\x9f" * 9000,
            b"\xbf" * 9000,
            b"\xd8\x1c" * 3000,
            b"\xc2\x5a\xff\xff\xff\xff",
        ),
        *(
            b"\x5b" + b"\xff" * 8,
            b"\x9b" + b"\xff" * 8,
            b"\xbb" + b"\x7f" * 8,
            b"\xfb\x7f\xf8" + bytes(6),
        ),
        *(b"\xa2\x01\x02\x01\x03", b"\xf6", b"\x1b" + b"\xff" * 8, b"\xc1\xfb" + b"\x7f" * 8, b""),
        *(
            b"\xd8\x1d\x00",
            b"\xd9\xd9\xf7\xa0",
            b"\xc4\x82\x1b" + b"\x7f" * 8 + b"\x01",
            b"\xc0\x61x",
        ),
    )
)


@st.composite
def hostile_attestations(draw: st.DrawFn, data: bytes) -> bytes:
    """Draw an attestation object that unfolds, nests, loops or lies about its lengths."""
    names = ["none", "packed", "tpm", "fido-u2f", "apple", "android-key", "android-safetynet", "x"]
    name = draw(st.sampled_from(names))
    statement: Any = draw(
        st.sampled_from([{}, {"alg": -7, "sig": b"a"}, {"x5c": b"a", "ver": "2.0"}])
    )
    inner = data[: draw(st.integers(0, len(data)))] + draw(CBOR | ODD_BYTES)
    whole = to_cbor({"fmt": name, "attStmt": statement, "authData": inner})
    return draw(st.sampled_from([whole, whole + b"\x00"]) | CBOR)


def test_no_hostile_cbor_harms_who_reads_it(delegate):
    challenge = make_challenge("register", session=SESSION, person=delegate)
    soft = SoftPasskey()
    sent = json.loads(soft.register(challenge_bytes(challenge)))
    data = soft._data(0x40) + soft._attested()
    trusted = {"session": SESSION, "person": delegate, "now": timezone.now()}

    @try_hard(12, long=200)
    @given(hostile_attestations(data))
    def fuzz(attestation: bytes) -> None:
        tally["CBOR"] += 1
        text = json.dumps(changed(sent, ("response", "attestationObject"), encode(attestation)))
        with transaction.atomic():
            try:
                made = verify_registration(text, "register", **trusted)
            except RegistrationRefusedError:
                return
            finally:
                transaction.set_rollback(True)
        assert made.credential_id == sent["id"]

    fuzz()


def test_no_spoilt_assertion_proves_anything(delegate):
    challenge = make_challenge("add", session=SESSION, person=delegate)
    soft = SoftPasskey(counter=5)
    kept = soft.keep_for(delegate)
    whole = soft.sign(challenge_bytes(challenge))
    trusted = {"session": SESSION, "person": delegate, "now": timezone.now()}
    signed = ("clientDataJSON", "authenticatorData", "signature")
    ours = {name: json.loads(whole)["response"][name] for name in signed}

    @try_hard(12, long=200)
    @given(spoilt_credentials(whole))
    def fuzz(text: str) -> None:
        tally["assertions"] += 1
        with transaction.atomic():
            try:
                proven = verify_assertion(text, "add", **trusted)
            except AssertionRefusedError:
                return
            finally:
                transaction.set_rollback(True)
        # It was spoilt where nothing is proved: what was signed is all there.
        assert proven.passkey == kept
        assert {
            "clientDataJSON": proven.client_data,
            "authenticatorData": proven.authenticator_data,
            "signature": proven.signature,
        } == ours

    fuzz()
    assert Passkey.objects.get().counter == 5
    assert not Challenge.objects.exclude(used_at=None).exists()


@pytest.fixture
def stamp(tmp_path: Path, connection: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return a genuine answer to the one question that is asked again and again."""
    make_authority(tmp_path)
    text = write_heads(read_heads()).encode()
    asked = TimestampRequestBuilder().data(text).hash_algorithm(HashAlgorithm.SHA256).build()

    class Same:
        def __getattr__(self, _step: str) -> Any:
            return lambda *_: self

        def build(self) -> Any:
            return asked

    monkeypatch.setattr(stamps, "TimestampRequestBuilder", Same)
    settings.AGENT_ACCESS |= {"STAMP_URL": "https://stamps.example/"}
    return Authority(tmp_path).stamp(asked.as_bytes())


@pytest.mark.parametrize("is_trusted", [True, False])
def test_no_spoilt_stamp_tells_another_time(stamp, tmp_path, monkeypatch, is_trusted):
    roots = stamps.read_roots(tmp_path / "root.pem") if is_trusted else []
    genuine = decode_timestamp_response(stamp).tst_info.gen_time
    count = 0

    @try_hard(12, long=200)
    @given(st.data())
    def fuzz(data: st.DataObject) -> None:
        nonlocal count
        tally["stamps"] += 1
        spoilt = stamp
        for _ in range(data.draw(st.integers(1, 2))):
            spoilt = data.draw(spoilt_bytes(spoilt))
        count += 1
        folder = tmp_path / str(count)
        folder.mkdir()
        monkeypatch.setattr(stamps, "_send", lambda _query: spoilt)
        with transaction.atomic():
            try:
                made = stamps.stamp_heads(folder, roots=roots)
            except stamps.StampError:
                assert [*folder.iterdir()] == []
                return
            finally:
                transaction.set_rollback(True)
        assert len([*folder.iterdir()]) == 2
        if is_trusted:
            assert made.stamped_at == genuine

    fuzz()
