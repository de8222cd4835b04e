"""A passkey in software: it makes what a browser would send, and lies where a test wants it to."""

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)
from django.utils import timezone

if TYPE_CHECKING:  # a program without Django's settings signs, too
    from agent_access.passkeys.models import Passkey

HOST = "invoices.example"

ORIGIN = f"https://{HOST}"

USER_PRESENT, USER_VERIFIED, CAN_BE_SYNCED, IS_SYNCED, HAS_KEY = 0x01, 0x04, 0x08, 0x10, 0x40


def encode(data: bytes) -> str:
    """Return base64 for URLs, without padding, as WebAuthn writes all bytes."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def challenge_in(options: Mapping[str, Any]) -> bytes:
    """Return what the options that a page was given ask to sign."""
    return decode(options["challenge"])


def confirm_page(desk: Any, page: str, soft: "SoftPasskey", **lies: Any) -> str:
    """Return the assertion with which a page's script confirms what the page does."""
    digest = hashlib.sha256(page.encode()).hexdigest()
    options = desk.post(f"/account/passkeys/confirm?page={digest}").json()["publicKey"]
    return soft.sign(challenge_in(options), **lies)


def digest_of(public_key: str) -> str:
    """Return what an event keeps of a key."""
    return hashlib.sha256(decode(public_key)).hexdigest()


@dataclass
class SoftPasskey:
    """One passkey; with a `counter` it counts its uses, and with None it always says 0."""

    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    counter: int | None = None
    is_synced: bool = False

    def write(self) -> dict[str, str]:
        """Return the passkey as JSON values, for another process."""
        key = self.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        return {"key": encode(key), "credential_id": encode(self.credential_id)}

    @classmethod
    def read(cls, written: Mapping[str, str]) -> "SoftPasskey":
        """Return the passkey that `write` wrote."""
        key = load_der_private_key(decode(written["key"]), password=None)
        assert isinstance(key, EllipticCurvePrivateKey)
        return cls(key=key, credential_id=decode(written["credential_id"]))

    def register(self, challenge: bytes, **lies: Any) -> str:
        """Return the JSON of a new passkey; `lies` are those of `_client_data` and `_data`."""
        data = self._data(HAS_KEY, **lies) + self._attested()
        attestation = {"fmt": "none", "attStmt": {}, "authData": data}
        response = {
            "clientDataJSON": encode(self._client_data("webauthn.create", challenge, **lies)),
            "attestationObject": encode(to_cbor(attestation)),
            "transports": ["internal"],
        }
        return self._write(response, lies)

    def sign(
        self, challenge: bytes, *, key: EllipticCurvePrivateKey | None = None, **lies: Any
    ) -> str:
        """Return the JSON of an assertion, signed by another key if one is given."""
        if self.counter is not None:
            self.counter += 1
        client_data = self._client_data("webauthn.get", challenge, **lies)
        data = self._data(0, **lies)
        signed = data + hashlib.sha256(client_data).digest()
        response = {
            "clientDataJSON": encode(client_data),
            "authenticatorData": encode(data),
            "signature": encode((key or self.key).sign(signed, ECDSA(SHA256()))),
            "userHandle": None,
        }
        return self._write(response, lies)

    def _write(self, response: Mapping[str, Any], lies: Mapping[str, Any]) -> str:
        name = encode(self.credential_id)
        sent = {
            "id": name,
            "rawId": name,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
            "authenticatorAttachment": lies.get("attachment", "platform"),
        }
        return orjson.dumps(sent).decode()

    def _client_data(
        self,
        kind: str,
        challenge: bytes,
        *,
        origin: str = ORIGIN,
        is_framed: bool = False,
        says: Mapping[str, Any] | None = None,
        **_others: Any,
    ) -> bytes:
        told: dict[str, Any] = {
            "type": kind,
            "challenge": encode(challenge),
            "origin": origin,
            "crossOrigin": is_framed,
        }
        return json.dumps({**told, **(says or {})}).encode()

    def _data(
        self,
        flags: int,
        *,
        rp_id: str = HOST,
        verifies: bool = True,
        is_present: bool = True,
        counter: int | None = None,
        **_others: Any,
    ) -> bytes:
        """Return the authenticator data up to its counter (WebAuthn, section 6.1)."""
        flags |= USER_VERIFIED if verifies else 0
        flags |= USER_PRESENT if is_present else 0
        flags |= CAN_BE_SYNCED | IS_SYNCED if self.is_synced else 0
        counted = self.counter or 0 if counter is None else counter
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + counted.to_bytes(4)

    def _attested(self) -> bytes:
        """Return the ID and the public key, behind the AAGUID of nobody."""
        length = len(self.credential_id).to_bytes(2)
        return bytes(16) + length + self.credential_id + self.public_key

    @property
    def public_key(self) -> bytes:
        """Return the key as COSE writes it (RFC 9052): ES256 on P-256."""
        point = self.key.public_key().public_numbers()
        return to_cbor({1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32), -3: point.y.to_bytes(32)})

    def keep_for(
        self, person: Any, *, age: timedelta = timedelta(days=1), **columns: Any
    ) -> "Passkey":
        """Store the passkey as one that the person added so long ago, without an audit event."""
        from agent_access.passkeys.models import Passkey  # noqa: PLC0415  see above

        added_at: datetime = timezone.now() - age
        columns = {"name": "Soft passkey", "added_at": added_at, **columns}
        kept: Passkey = Passkey.objects.create(
            person=person,
            credential_id=encode(self.credential_id),
            public_key=encode(self.public_key),
            counter=self.counter or 0,
            is_synced=self.is_synced,
            **columns,
        )
        return kept


UNSIGNED, NEGATIVE, BYTES, TEXT, MAP = 0, 1, 2, 3, 5
SMALLEST_LONG, ONE_BYTE, TWO_BYTES = 24, 24, 25


def to_cbor(value: Any) -> bytes:
    """Write integers, bytes, texts and maps of them (RFC 8949)."""
    match value:
        case int():
            return _head(UNSIGNED, value) if value >= 0 else _head(NEGATIVE, -1 - value)
        case bytes():
            return _head(BYTES, len(value)) + value
        case str():
            return _head(TEXT, len(value.encode())) + value.encode()
        case _:
            members = (to_cbor(each) for pair in value.items() for each in pair)
            return _head(MAP, len(value)) + b"".join(members)


def _head(kind: int, number: int) -> bytes:
    if number < SMALLEST_LONG:
        return bytes([kind << 5 | number])
    if number < 1 << 8:
        return bytes([kind << 5 | ONE_BYTE, number])
    return bytes([kind << 5 | TWO_BYTES]) + number.to_bytes(2)
