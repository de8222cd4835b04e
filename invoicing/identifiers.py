"""The IDs of records, and the codes of drafts."""

import secrets
import uuid

import uuid_utils.compat

CROCKFORD_BASE_32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DRAFT_CODE_PREFIX = "D-"
DRAFT_CODE_CHARACTERS = 8


def new_id() -> uuid.UUID:
    """Return a UUIDv7 (RFC 9562), greater than every one this process returned before."""
    return uuid_utils.compat.uuid7()


def read_uuid(text: str) -> uuid.UUID | None:
    """Return the ID that the text is, or None."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def new_draft_code() -> str:
    """Return a random code by which people name a document without a number: `D-7KQ2M9XA`."""
    characters = (secrets.choice(CROCKFORD_BASE_32) for _ in range(DRAFT_CODE_CHARACTERS))
    return DRAFT_CODE_PREFIX + "".join(characters)
