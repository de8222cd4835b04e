"""Proofs that somebody has just used a passkey, with user verification (WebAuthn, section 7.2)."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from agent_access import conf
from agent_access.passkeys.challenges import challenge_bytes, use_challenge
from agent_access.passkeys.models import Challenge, Passkey, Signature
from agent_access.passkeys.sent import MadeUpError, challenge_digest, decode, read_credential
from agent_access.passkeys.sites import relying_party


class AssertionRefusedError(Exception):
    """It proves nothing: malformed, too old, or of another purpose, person, session or passkey."""


@dataclass(frozen=True)
class Asserted:
    """A proof that held: by which passkey, over which challenge, and what the browser sent.

    The three texts are base64 for URLs. `is_on_this_device` is what the browser says of where the
    passkey is.
    """

    passkey: Passkey
    challenge: Challenge
    client_data: str
    authenticator_data: str
    signature: str
    is_on_this_device: bool

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = orjson.loads(self.challenge.content)
        return content


def verify_assertion(
    text: str, purpose: str, *, session: str, person: Any, now: datetime
) -> Asserted:
    """Return what a browser's JSON proves, and use its challenge and the passkey's counter up.

    To sign in, `person` is None: it is whose passkey it is. Call it in a transaction, which is
    undone where it raises AssertionRefusedError.
    """
    try:
        sent = read_credential(text, "clientDataJSON", "authenticatorData", "signature")
        response = sent["response"]
        digest = challenge_digest(response["clientDataJSON"])
    except MadeUpError:
        raise AssertionRefusedError from None
    challenge = use_challenge(digest, purpose, session=session, person=person, now=now)
    kept = Passkey.objects.filter(credential_id=sent["id"], removed_at=None)
    passkey = kept.select_for_update().first()
    if challenge is None or passkey is None:
        raise AssertionRefusedError
    if person is not None and passkey.person_id != person.pk:
        raise AssertionRefusedError
    counted = _verify(sent, challenge, passkey.public_key, passkey.counter)
    passkey.counter, passkey.last_used_at = counted, now
    passkey.save(update_fields=["counter", "last_used_at"])
    return Asserted(
        passkey=passkey,
        challenge=challenge,
        client_data=response["clientDataJSON"],
        authenticator_data=response["authenticatorData"],
        signature=response["signature"],
        is_on_this_device=sent["authenticatorAttachment"] == "platform",
    )


def _verify(sent: dict[str, Any], challenge: Challenge, public_key: str, counter: int) -> int:
    """Return what the authenticator counted; raises AssertionRefusedError."""
    from webauthn import verify_authentication_response  # noqa: PLC0415  loads slowly

    try:
        verified = verify_authentication_response(
            credential=sent,
            expected_challenge=challenge_bytes(challenge),
            expected_rp_id=relying_party(),
            expected_origin=conf.base_url(),
            credential_public_key=decode(public_key),
            credential_current_sign_count=counter,
            require_user_verification=True,
        )
    except Exception as error:  # its parsers raise many kinds for what somebody made up
        raise AssertionRefusedError from error
    return verified.new_sign_count


def still_verifies(kept: Signature) -> bool:
    """Return whether a kept signature is one over its challenge, by its key, for this service."""
    sent = {
        "id": kept.passkey.credential_id,
        "rawId": kept.passkey.credential_id,
        "type": "public-key",
        "response": {
            "clientDataJSON": kept.client_data,
            "authenticatorData": kept.authenticator_data,
            "signature": kept.signature,
        },
    }
    digest = hashlib.sha256(kept.challenge.encode()).hexdigest()
    try:
        _verify(sent, Challenge(content=kept.challenge, digest=digest), kept.public_key, 0)
    except AssertionRefusedError:
        return False
    return kept.public_key == kept.passkey.public_key
