"""Why an approval is not prepared, decided or executed, without a word about a transport."""

__all__ = [
    "ApprovalError",
    "ApprovalNotFoundError",
    "ApprovalStateError",
    "ConnectionEndedError",
    "DecisionNotAllowedError",
]


class ApprovalError(Exception):
    """The base of all errors of approvals."""


class ApprovalNotFoundError(ApprovalError):
    """The approval or its target does not exist or is hidden; the two cannot be told apart."""


class ApprovalStateError(ApprovalError):
    """The approval is in a state, an ApprovalState, that allows no such decision or execution."""

    def __init__(self, state: str) -> None:
        super().__init__(state)
        self.state = state


class DecisionNotAllowedError(ApprovalError):
    """The person may not decide so, or their web session ended meanwhile."""


class ConnectionEndedError(ApprovalError):
    """The connection that asked has ended, so that its agent can execute nothing."""
