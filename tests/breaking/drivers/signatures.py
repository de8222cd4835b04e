"""Every signature that is kept, verified once more with the keys that the harness has itself."""

import hashlib
import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from typing_extensions import override

from tests.breaking.drivers.driver import Driver, Found
from tests.passkeys import ORIGIN, SoftPasskey, encode


class Signature(NamedTuple):
    """A signature of an approval or of an act by hand, and what the request of it keeps.

    `asked` is the digest of the facts that were approved; empty of an act by hand.
    """

    record_id: str
    purpose: str
    credential_id: str
    challenge: str
    client_data: str
    authenticator_data: str
    signature: str
    facts: str
    fingerprint: str
    asked: str
    decision: str


SIGNATURES = """
    SELECT signed.record_id::text, signed.purpose, passkey.credential_id, signed.challenge,
        signed.client_data, signed.authenticator_data, signed.signature, signed.facts,
        signed.fingerprint, coalesce(asked.fingerprint, ''), coalesce(asked.decision, '')
    FROM agent_passkeys_signature AS signed
    JOIN agent_passkeys_passkey AS passkey ON passkey.id = signed.passkey_id
    LEFT JOIN agent_approvals_approvalrequest AS asked ON asked.id = signed.record_id
"""


class Signatures(Driver):
    """Does nothing besides the agents, whose people sign; it looks at what they signed."""

    name = "signatures"
    threads: ClassVar[int] = 0

    @override
    def find(self, database: Any) -> Found:
        facts = self.site.facts
        written = [each["passkey"] for each in (*facts["clients"], *facts["staff"].values())]
        keys = {each["credential_id"]: SoftPasskey.read(each).key.public_key() for each in written}
        rows = [Signature(*row) for row in database.execute(SIGNATURES).fetchall()]
        return {"signatures that do not hold": [*find_unsound(rows, keys)]}


def find_unsound(
    rows: list[Signature], keys: Mapping[str, EllipticCurvePublicKey]
) -> Iterator[str]:
    """Signatures that were not made by the person's key over what was approved."""
    for row in rows:
        for flaw in _find_flaws(row, keys):
            yield f"the signature of {row.purpose} {row.record_id} {flaw}"


def _find_flaws(row: Signature, keys: Mapping[str, EllipticCurvePublicKey]) -> Iterator[str]:
    client_data = _decode(row.client_data)
    told = json.loads(client_data)
    if told["challenge"] != encode(hashlib.sha256(row.challenge.encode()).digest()):
        yield "is over another challenge"
    if told["origin"] != ORIGIN or told["type"] != "webauthn.get":
        yield "was made elsewhere"
    if hashlib.sha256(row.facts.encode()).hexdigest() != row.fingerprint:
        yield "keeps other facts than it names"
    named = {each for each in json.loads(row.challenge).values() if isinstance(each, str)}
    if not {row.fingerprint, row.record_id} <= named:
        yield "does not name what was approved"
    if row.asked and (row.asked, row.decision) != (row.fingerprint, "approved"):
        yield "is of another request than the one that was approved"
    signed = _decode(row.authenticator_data) + hashlib.sha256(client_data).digest()
    try:
        keys[row.credential_id].verify(_decode(row.signature), signed, ECDSA(SHA256()))
    except (InvalidSignature, KeyError):
        yield "is not by the person's key"


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
