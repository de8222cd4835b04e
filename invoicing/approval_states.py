"""The state of an approval, computed from stored facts, and the table of its transitions."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

# Interface, Limits: "Invoice approval window".
WINDOW = timedelta(minutes=10)


class ApprovalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXECUTED = "executed"
    EXPIRED = "expired"
    STALE = "stale"


class Trigger(StrEnum):
    """What can happen to an approval."""

    APPROVE = "approve"
    REJECT = "reject"
    EXECUTE = "execute"


@dataclass(frozen=True, kw_only=True)
class StoredFacts:
    """All that the state depends on; `is_unchanged` says that the draft is as it was prepared."""

    expires_at: datetime
    is_unchanged: bool
    is_approved: bool = False
    is_rejected: bool = False
    is_executed: bool = False


# Interface, "Issue approval": the state after each trigger. Every pair that is not here is refused.
TRANSITIONS = {
    (ApprovalState.PENDING, Trigger.APPROVE): ApprovalState.APPROVED,
    (ApprovalState.PENDING, Trigger.REJECT): ApprovalState.REJECTED,
    (ApprovalState.APPROVED, Trigger.EXECUTE): ApprovalState.EXECUTED,
}


def state_of(facts: StoredFacts, *, now: datetime) -> ApprovalState:
    """Return the first state in `precedence` whose condition holds.

    Rejected comes before expired, so that an agent is never told to prepare again after a No. The
    window excludes its end: at exactly ten minutes an approval has expired.
    """
    precedence = (
        (facts.is_executed, ApprovalState.EXECUTED),
        (facts.is_rejected, ApprovalState.REJECTED),
        (now >= facts.expires_at, ApprovalState.EXPIRED),
        (not facts.is_unchanged, ApprovalState.STALE),
        (facts.is_approved, ApprovalState.APPROVED),
        (True, ApprovalState.PENDING),
    )
    return next(state for holds, state in precedence if holds)
