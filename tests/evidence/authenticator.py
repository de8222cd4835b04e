"""An authenticator made of software: keys of each kind, and what a browser sends of a signature."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from tests.passkeys import digest_of, encode, to_cbor

PRESENT, VERIFIED = 0b1, 0b100


@dataclass(frozen=True)
class SoftKey:
    """A key that signs, and its public half in base64 of COSE (RFC 9052)."""

    private: Any
    public_key: str

    @property
    def digest(self) -> str:
        """The SHA-256 of the public key, as the audit event of the passkey keeps it."""
        return digest_of(self.public_key)

    def sign(
        self,
        challenge: str,
        /,
        *,
        origin: str,
        rp_id: str,
        flags: int = PRESENT | VERIFIED,
        **more: Any,
    ) -> dict[str, str]:
        """Return the columns of a signature over the canonical text of a challenge."""
        told = {
            "type": "webauthn.get",
            "challenge": encode(hashlib.sha256(challenge.encode()).digest()),
            "origin": origin,
            "crossOrigin": False,
        }
        client_data = json.dumps(told | more).encode()
        data = hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + bytes(4)
        signature = self._sign(data + hashlib.sha256(client_data).digest())
        return {
            "public_key": self.public_key,
            "client_data": encode(client_data),
            "authenticator_data": encode(data),
            "signature": encode(signature),
        }

    def _sign(self, text: bytes) -> bytes:
        if isinstance(self.private, ec.EllipticCurvePrivateKey):
            return self.private.sign(text, ec.ECDSA(SHA256()))
        if isinstance(self.private, rsa.RSAPrivateKey):
            return self.private.sign(text, padding.PKCS1v15(), SHA256())
        signature: bytes = self.private.sign(text)
        return signature


def make_es256() -> SoftKey:
    private = ec.generate_private_key(ec.SECP256R1())
    point = private.public_key().public_numbers()
    place = {-2: point.x.to_bytes(32), -3: point.y.to_bytes(32)}
    return SoftKey(private, encode(to_cbor({1: 2, 3: -7, -1: 1, **place})))


def make_eddsa() -> SoftKey:
    private = ed25519.Ed25519PrivateKey.generate()
    place = {-2: private.public_key().public_bytes_raw()}
    return SoftKey(private, encode(to_cbor({1: 1, 3: -8, -1: 6, **place})))


def make_rs256() -> SoftKey:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    numbers = private.public_key().public_numbers()
    place = {-1: numbers.n.to_bytes(256), -2: numbers.e.to_bytes(3)}
    return SoftKey(private, encode(to_cbor({1: 3, 3: -257, **place})))


MAKERS = {"ES256": make_es256, "EdDSA": make_eddsa, "RS256": make_rs256}
