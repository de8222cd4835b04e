"""The lines of a package of evidence about approvals: what was shown, and what came of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from agent_access.approvals.models import ApprovalRequest

BATCH_SIZE = 500


def read_approvals() -> Iterator[Mapping[str, Any]]:
    """Yield every request with all that is kept of it; of the nonce that is only a digest."""
    yield from ApprovalRequest.objects.order_by("id").values().iterator(chunk_size=BATCH_SIZE)
