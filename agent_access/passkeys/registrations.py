"""New passkeys, as a browser sends them (WebAuthn, section 7.1)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_access import conf
from agent_access.passkeys.challenges import challenge_bytes, use_challenge
from agent_access.passkeys.models import CREDENTIAL_ID_LENGTH, Challenge
from agent_access.passkeys.sent import MadeUpError, challenge_digest, encode, read_credential
from agent_access.passkeys.sites import relying_party


class RegistrationRefusedError(Exception):
    """It is no new passkey: malformed, too old, or of another purpose, person or session."""


@dataclass(frozen=True)
class Registered:
    """A passkey as its authenticator made it; the texts are base64 for URLs."""

    credential_id: str
    public_key: str
    counter: int
    is_synced: bool


def verify_registration(
    text: str, purpose: str, *, session: str, person: Any, now: datetime
) -> Registered:
    """Return the passkey in a browser's JSON, and use its challenge up.

    Call it in a transaction, which is undone where it raises RegistrationRefusedError.
    """
    try:
        sent = read_credential(text, "clientDataJSON", "attestationObject")
        digest = challenge_digest(sent["response"]["clientDataJSON"])
    except MadeUpError:
        raise RegistrationRefusedError from None
    challenge = use_challenge(digest, purpose, session=session, person=person, now=now)
    if challenge is None:
        raise RegistrationRefusedError
    return _verify(sent, challenge)


def _verify(sent: dict[str, Any], challenge: Challenge) -> Registered:
    from webauthn import verify_registration_response  # noqa: PLC0415  loads slowly
    from webauthn.helpers import (  # noqa: PLC0415  as above
        decode_credential_public_key,
        decoded_public_key_to_cryptography,
    )

    try:
        verified = verify_registration_response(
            credential=sent,
            expected_challenge=challenge_bytes(challenge),
            expected_rp_id=relying_party(),
            expected_origin=conf.base_url(),
            require_user_verification=True,
        )
        # One that is no key would lock the person out.
        decoded_public_key_to_cryptography(
            decode_credential_public_key(verified.credential_public_key)
        )
    except Exception as error:  # its parsers raise many kinds for what somebody made up
        raise RegistrationRefusedError from error
    credential_id = encode(verified.credential_id)
    if credential_id != sent["id"] or len(credential_id) > CREDENTIAL_ID_LENGTH:
        raise RegistrationRefusedError
    return Registered(
        credential_id=credential_id,
        public_key=encode(verified.credential_public_key),
        counter=verified.sign_count,
        is_synced=verified.credential_backed_up,
    )
