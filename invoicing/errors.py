"""What can go wrong in the invoicing domain, without a word about HTTP."""

from enum import Enum, auto

from agent_access.errors import FieldProblem as FieldProblem  # noqa: PLC0414  exported to services


class InvoicingError(Exception):
    """The base of all errors of the invoicing domain."""


class RecordNotFoundError(InvoicingError):
    """The record does not exist or is hidden from the user; the two cannot be told apart."""


class ConflictCause(Enum):
    """Why a change does not fit the record as it is now."""

    CHANGED_MEANWHILE = auto()
    OLD_VERSION = auto()
    NO_DRAFT_INVOICE = auto()
    INACTIVE_REFERENCE = auto()  # the customer or a tax rate
    OTHER_TOTALS = auto()  # than those that the tax rates give now
    NO_ISSUED_INVOICE = auto()  # and nothing else is corrected
    LESS_IS_LEFT = auto()  # of the corrected invoice than when the draft was written


class ConflictError(InvoicingError):
    """The record is not in the state, or not at the version, that the change needs."""

    def __init__(self, cause: ConflictCause = ConflictCause.CHANGED_MEANWHILE) -> None:
        super().__init__(cause.name)
        self.cause = cause


class FactsChangedError(ConflictError):
    """The company or a tax rate was changed after the facts were read that issuing freezes."""


class DraftInvalidError(InvoicingError):
    """The draft cannot be written; `problems` holds everything that is wrong with it."""

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        super().__init__(", ".join(problem.field for problem in problems))
        self.problems = problems


class NotIssuedError(InvoicingError):
    """The document is a draft, of which no file is kept."""


class DraftCodeUsedError(InvoicingError):
    """A document with this draft code exists already."""


class UnknownCurrencyError(InvoicingError):
    """The code names no currency that can be invoiced."""


class AmountTooLargeError(InvoicingError):
    """A computed amount is larger than money.MAX_AMOUNT."""


class OwnerUnfitError(InvoicingError):
    """The person is inactive or a guest, and so cannot own the company."""


class CodeInvalidError(InvoicingError):
    """The one-time code is malformed, used, expired or withdrawn, or its person is not active."""


class PasskeyMissingError(InvoicingError):
    """The owner has no passkey of their own yet, and so cannot require one of others."""


class PasskeyNotUsedError(InvoicingError):
    """The person has not used a passkey to confirm exactly this, or too long ago."""


class DayTooEarlyError(InvoicingError):
    """From this day on passkeys would be required of people who could not add one in time."""


class PermissionMissingError(InvoicingError):
    """The person does not hold the permission that the action needs."""
