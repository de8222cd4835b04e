"""The state of an approval, computed from stored facts, and the table of its transitions."""

from datetime import datetime, timedelta
from enum import StrEnum

from invoicing.models import Decision, IssueApproval

# Interface, Limits: "Invoice approval window".
WINDOW = timedelta(minutes=10)


class ApprovalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXECUTED = "executed"
    EXPIRED = "expired"
    STALE = "stale"


# Interface, "Issue approval": from which state a person or an agent leads it to which. Every pair
# that is not here is refused.
TRANSITIONS = {
    (ApprovalState.PENDING, ApprovalState.APPROVED),
    (ApprovalState.PENDING, ApprovalState.REJECTED),
    (ApprovalState.APPROVED, ApprovalState.EXECUTED),
}


def state_of(approval: IssueApproval, *, is_unchanged: bool, now: datetime) -> ApprovalState:
    """Return the first state in `precedence` whose condition holds.

    `is_unchanged` says that the draft is as it was prepared.

    Rejected comes before expired, so that an agent is never told to prepare again after a No. The
    window excludes its end: at exactly ten minutes an approval has expired.
    """
    precedence = (
        (approval.executed_at is not None, ApprovalState.EXECUTED),
        (approval.decision == Decision.REJECTED, ApprovalState.REJECTED),
        (now >= approval.expires_at, ApprovalState.EXPIRED),
        (not is_unchanged, ApprovalState.STALE),
        (approval.decision == Decision.APPROVED, ApprovalState.APPROVED),
        (True, ApprovalState.PENDING),
    )
    return next(state for holds, state in precedence if holds)
