"""What a passkey is asked to sign: stored before, and used once."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any

from agent_access.database.clock import read_clock
from agent_access.facts import canonical_json
from agent_access.passkeys.models import Challenge

# How long somebody has to find their phone.
LASTS = timedelta(minutes=5)
RANDOM_BYTES = 32


def make_challenge(purpose: str, *, session: str, person: Any = None, **content: Any) -> Challenge:
    """Store and return a challenge for one use, in the web session with this digest.

    `content` is what else is signed, as JSON values. What is long over is deleted.
    """
    now = read_clock()
    Challenge.objects.filter(expires_at__lt=now - LASTS).delete()
    canonical = canonical_json(
        {
            **content,
            "purpose": purpose,
            "user": str(person.pk) if person else None,
            "random": secrets.token_hex(RANDOM_BYTES),
        }
    )
    return Challenge.objects.create(
        person=person,
        purpose=purpose,
        content=canonical,
        digest=hashlib.sha256(canonical.encode()).hexdigest(),
        session=session,
        expires_at=now + LASTS,
    )


def challenge_bytes(challenge: Challenge) -> bytes:
    """Return what a browser is asked to sign: the SHA-256 of the content."""
    return bytes.fromhex(challenge.digest)


def use_challenge(
    digest: str, purpose: str, *, session: str, person: Any, now: datetime
) -> Challenge | None:
    """Return the challenge that was made for exactly this, and let nobody use it again.

    None if there is none, it was used, or is over.
    """
    found = Challenge.objects.filter(digest=digest, purpose=purpose, session=session, person=person)
    if not found.filter(used_at=None, expires_at__gt=now).update(used_at=now):
        return None
    return found.get()
