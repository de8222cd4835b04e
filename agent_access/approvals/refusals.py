"""What executing answers while an approval is not approved; a project words them for its kinds."""

from collections.abc import Mapping
from http import HTTPStatus

from agent_access.approvals.states import ApprovalState
from agent_access.errors import ToolError

__all__ = [
    "REFUSALS",
    "ExpiredError",
    "PendingError",
    "Refusals",
    "RejectedError",
    "StaleError",
    "UsedError",
]


class PendingError(ToolError):
    code = "approval_pending"
    status = HTTPStatus.CONFLICT
    message = (
        "The delegated person has not decided yet. Show them review_url, wait, and read the"
        " approval; execute when its status is approved."
    )


class RejectedError(ToolError):
    code = "approval_rejected"
    status = HTTPStatus.CONFLICT
    message = (
        "The delegated person rejected this; rejection_reason of the approval may say why. Do not"
        " prepare it again unless they ask for it."
    )


class StaleError(ToolError):
    code = "approval_stale"
    status = HTTPStatus.CONFLICT
    message = (
        "What was to be approved changed after it was prepared; stale_fields of the approval says"
        " what. Read the record and prepare a new request with a new key."
    )


class UsedError(ToolError):
    code = "approval_used"
    status = HTTPStatus.CONFLICT
    message = (
        "This approval has already been executed. Send the original idempotency key to get its"
        " result, or read the record."
    )


class ExpiredError(ToolError):
    code = "approval_expired"
    status = HTTPStatus.GONE
    message = "The time of this approval has passed; prepare a new request with a new key."


# What executing answers in each state but approved.
Refusals = Mapping[str, type[ToolError]]
REFUSALS: Refusals = {
    ApprovalState.PENDING: PendingError,
    ApprovalState.REJECTED: RejectedError,
    ApprovalState.STALE: StaleError,
    ApprovalState.EXECUTED: UsedError,
    ApprovalState.EXPIRED: ExpiredError,
}
