"""Translates the domain's errors into those of the interface ("Errors")."""

from collections.abc import Mapping

from agent_access import errors
from agent_access.approvals import refusals
from agent_access.approvals.states import ApprovalState
from invoicing.errors import (
    ConflictCause,
    ConflictError,
    DraftInvalidError,
    RecordNotFoundError,
)


class RejectedError(refusals.RejectedError):
    message = (
        "The delegated person rejected this issue; rejection_reason of the approval may say why."
        " Do not prepare it again unless they ask for it."
    )


class StaleError(refusals.StaleError):
    message = (
        "What would be issued changed after it was prepared; stale_fields of the approval says"
        " what. Read the document and prepare a new request with a new key."
    )


class UsedError(refusals.UsedError):
    message = (
        "This approval has already been executed. Send the original idempotency key to get its"
        " result, or read the document."
    )


class ExpiredError(refusals.ExpiredError):
    message = "The ten minutes of this approval have passed; prepare a new request with a new key."


# What a conflict answers by its cause.
CONFLICTS: Mapping[ConflictCause, str] = {
    ConflictCause.CHANGED_MEANWHILE: (
        "Nothing was changed, since another call changed the record in the same moment. Read the"
        " record, and do only what is left, with its latest version and a new key."
    ),
    ConflictCause.OLD_VERSION: (
        "Nothing was changed. lock_version is not the draft's current one: it was changed after it"
        " was read. Read the draft, compare, and send the call with its current lock_version and a"
        " new key."
    ),
    ConflictCause.NO_DRAFT_INVOICE: (
        "Nothing was changed. The document is not a draft invoice: it is issued already, or a"
        " credit note, and no tool changes or issues those. Read it to see what it is now."
    ),
    ConflictCause.INACTIVE_REFERENCE: (
        "The draft's customer or one of its tax rates is no longer active. Update the draft with"
        " active ones, then prepare its issue with a new key."
    ),
    ConflictCause.OTHER_TOTALS: (
        "The draft's totals are not those that its tax rates give now. Update the draft, which"
        " calculates them again, then prepare its issue with a new key."
    ),
}
# The causes that lie in a field.
CONFLICTING_FIELDS = {ConflictCause.OLD_VERSION: ["lock_version"]}

# What executing answers in each state but approved.
APPROVAL_REFUSALS: refusals.Refusals = {
    **refusals.REFUSALS,
    ApprovalState.REJECTED: RejectedError,
    ApprovalState.STALE: StaleError,
    ApprovalState.EXECUTED: UsedError,
    ApprovalState.EXPIRED: ExpiredError,
}


def answer_failure(failure: Exception) -> errors.ToolError | None:
    """Return the interface's error for one of the domain's, or None for any other exception."""
    match failure:
        case RecordNotFoundError():
            return errors.NotFoundError()
        case ConflictError(cause=cause):
            return errors.ConflictError(CONFLICTS[cause], fields=CONFLICTING_FIELDS.get(cause, ()))
        case DraftInvalidError():
            return errors.ValidationFailedError(failure.problems)
    return None
