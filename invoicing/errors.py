"""What can go wrong in the invoicing domain, without a word about HTTP."""

from dataclasses import dataclass


class InvoicingError(Exception):
    """The root of every refusal of the invoicing domain."""


class RecordNotFoundError(InvoicingError):
    """The record does not exist or is hidden from the user; the two cannot be told apart."""


class ConflictError(InvoicingError):
    """The document is not in the state, or not at the version, that the change needs."""


@dataclass(frozen=True)
class FieldProblem:
    """A fixed text that reads on from a field's name; it never repeats what was submitted."""

    path: str
    problem: str


class DraftInvalidError(InvoicingError):
    """The draft cannot be written; carries everything that is wrong with it."""

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        super().__init__(", ".join(problem.path for problem in problems))
        self.problems = problems


class DraftCodeUsedError(InvoicingError):
    """A draft of this code exists already."""


class UnknownCurrencyError(InvoicingError):
    """The code names no currency that can be invoiced."""


class DiscountTooLargeError(InvoicingError):
    """The discount of a line is larger than its gross amount."""

    def __init__(self, line_index: int) -> None:
        super().__init__(f"line {line_index}")
        self.line_index = line_index


class AmountTooLargeError(InvoicingError):
    """A computed amount does not fit the digits of an amount."""


class ControlCharacterError(InvoicingError, ValueError):
    """The text holds a character that no person can read."""


class OwnerUnfitError(InvoicingError):
    """Only an active person of the staff who is not a guest can own the company."""


class CodeInvalidError(InvoicingError):
    """The one-time code is none, was used, or has ended."""


class InactiveReferenceError(ConflictError):
    """The draft names a customer or a tax rate that is not active any more."""


class PermissionMissingError(InvoicingError):
    """The person does not hold the permission that the action needs."""


class ApprovalStateError(InvoicingError):
    """The approval is in another state than the decision or the execution needs."""

    def __init__(self, state: str) -> None:
        super().__init__(state)
        self.state = state
