"""The state of an approval, computed from stored facts, and the table of its transitions."""

from datetime import datetime
from enum import StrEnum

from agent_access.approvals.models import ApprovalRequest, Decision

__all__ = ["ApprovalState"]


class ApprovalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXECUTED = "executed"
    EXPIRED = "expired"
    STALE = "stale"


# From which state a person or an agent leads an approval to which. Every pair that is not here is
# refused.
TRANSITIONS = {
    (ApprovalState.PENDING, ApprovalState.APPROVED),
    (ApprovalState.PENDING, ApprovalState.REJECTED),
    (ApprovalState.APPROVED, ApprovalState.EXECUTED),
}


def state_of(
    approval: ApprovalRequest, *, is_unchanged: bool, is_signed: bool, now: datetime
) -> ApprovalState:
    """Return the first state in `precedence` whose condition holds.

    `is_unchanged` says that the target is as it was prepared, and `is_signed` that it is signed if
    it has to be: a decision without the signature that it needs is no decision.

    Rejected comes before expired, so that an agent is never told to prepare again after a No. The
    window excludes its end: at that very moment an approval has expired.
    """
    precedence = (
        (approval.executed_at is not None, ApprovalState.EXECUTED),
        (approval.decision == Decision.REJECTED, ApprovalState.REJECTED),
        (now >= approval.expires_at, ApprovalState.EXPIRED),
        (not is_unchanged, ApprovalState.STALE),
        (approval.decision == Decision.APPROVED and is_signed, ApprovalState.APPROVED),
        (True, ApprovalState.PENDING),
    )
    return next(state for holds, state in precedence if holds)
