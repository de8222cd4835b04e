"""The lines of a package about what agents did: audit events and receipts."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from agent_access.models import AuditEvent
from agent_access.models.receipts import Receipt
from agent_access.verification import read_begins

BATCH_SIZE = 2000
UNTOLD = ("answer",)


def read_events() -> Iterator[Mapping[str, Any]]:
    """Yield every event, chain by chain, so that each chain is proved as it is read.

    Those that are archived are left out, also while they are being removed.
    """
    begins = read_begins()
    events = AuditEvent.objects.order_by("chain", "sequence").values()
    for event in events.iterator(chunk_size=BATCH_SIZE):
        begin = begins.get(event["chain"])
        if begin is None or event["sequence"] > begin.sequence:
            yield event


def read_receipts() -> Iterator[Mapping[str, Any]]:
    """Yield every receipt, with the SHA-256 of its answer as it is kept, and without the answer.

    An answer that holds a secret is kept encrypted; its digest tells nothing of it.
    """
    for row in Receipt.objects.order_by("id").values().iterator(chunk_size=BATCH_SIZE):
        told = {name: value for name, value in row.items() if name not in UNTOLD}
        yield told | {"answer_digest": hashlib.sha256(row["answer"].encode()).hexdigest()}
