"""Authentication by the credential of a connection."""

from contextlib import suppress
from typing import Any, NoReturn

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from typing_extensions import override

from agent_access.admission import Admission
from agent_access.authentication import bears_credential
from agent_access.callers import Caller
from agent_access.errors import ForbiddenError, ToolError, format_challenge
from agent_access.gate import guard
from agent_access.http.exceptions import RefusedConnectionError
from agent_access.http.requests import admission_of
from agent_access.models.audit import Transport

__all__ = ["BearerAuthentication", "ConnectionAuthentication"]

# What the audit calls a request that never became a call of a tool.
ACTION = "http.request"
NO_TOOL = (
    "No connection may call this address: it is none of the tools. Call those that the list of"
    " tools names; if you need another, ask the owner."
)


class BearerAuthentication(BaseAuthentication):
    """Makes `request.user` the delegated user, and `request.auth` the Caller with the connection.

    It lets nobody else pass: without a valid credential, beyond the limit of the address, or while
    access is off, it raises the ToolError that says so. For views that only agents call.
    """

    @override
    def authenticate(self, request: Request) -> tuple[Any, Caller]:
        caller = admission_of(request).caller
        return caller.connection.user, caller

    @override
    def authenticate_header(self, request: Request) -> str:
        return format_challenge({})


class ConnectionAuthentication(BaseAuthentication):
    """Refuses every connection, and leaves everybody else to the authentication classes after it.

    A view that is a tool (`AgentCalls`) answers connections before it asks who else calls, so this
    closes all others: it belongs at the head of DEFAULT_AUTHENTICATION_CLASSES. What it refuses
    is audited.
    """

    @override
    def authenticate(self, request: Request) -> None:
        if not bears_credential(request):
            return
        admission = admission_of(request)
        try:
            admit(admission, request._request, action=ACTION)  # noqa: SLF001  as in `admission_of`
            refuse(admission, ForbiddenError(NO_TOOL), action=ACTION)
        except ToolError as error:
            raise RefusedConnectionError(error) from None

    @override
    def authenticate_header(self, request: Request) -> str | None:
        """Return the challenge of the class after it: that is for people, as it was before."""
        others = (each for each in request.authenticators if not isinstance(each, type(self)))
        challenge = next((each.authenticate_header(request) for each in others), None)
        return None if challenge is None else str(challenge)


def admit(admission: Admission, request: HttpRequest, *, action: str) -> Caller:
    """Return the caller, within all limits; raise the ToolError that keeps the request out.

    What the gate refuses is audited too, if a connection sent it: that is known here alone.
    """
    try:
        guard(request)
    except ForbiddenError as error:
        refused = Admission(request, transport=Transport.HTTP, guards=False)
        with suppress(ToolError):  # nobody's, or beyond a limit: the answer is the same
            refused.record_refusal(refused.admit(action=action), action=action, outcome=error.code)
        raise
    return admission.admit(action=action)


def refuse(admission: Admission, error: ToolError, *, action: str) -> NoReturn:
    """Raise the error, once it is in the audit of the admitted connection."""
    admission.record_refusal(admission.caller, action=action, outcome=error.code)
    raise error
