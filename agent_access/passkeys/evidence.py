"""The lines of a package of evidence about passkeys, and about what was signed with them."""

from collections.abc import Iterator, Mapping
from typing import Any

from agent_access.passkeys.models import Passkey, Signature

BATCH_SIZE = 500


def read_passkeys() -> Iterator[Mapping[str, Any]]:
    """Yield every passkey, those that were removed too: public keys, and whose they are."""
    yield from Passkey.objects.order_by("id").values().iterator(chunk_size=BATCH_SIZE)


def read_signatures() -> Iterator[Mapping[str, Any]]:
    """Yield every signature, with all that is needed to verify it."""
    yield from Signature.objects.order_by("id").values().iterator(chunk_size=BATCH_SIZE)
