"""Identifiers that tell the order of creation and nothing else."""

import secrets
import uuid

import uuid_utils.compat

CROCKFORD_BASE_32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DRAFT_CODE_PREFIX = "D-"
DRAFT_CODE_CHARACTERS = 8


def new_id() -> uuid.UUID:
    """Return a UUIDv7 (RFC 9562), greater than every one this process returned before."""
    return uuid_utils.compat.uuid7()


def new_draft_code() -> str:
    """Return a code by which people call a document that has no number yet: `D-7KQ2M9XA`."""
    characters = (secrets.choice(CROCKFORD_BASE_32) for _ in range(DRAFT_CODE_CHARACTERS))
    return DRAFT_CODE_PREFIX + "".join(characters)
