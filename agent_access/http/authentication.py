"""Authentication by the credential of a connection."""

from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from typing_extensions import override

from agent_access.callers import Caller
from agent_access.errors import format_challenge
from agent_access.http.requests import admission_of


class ConnectionAuthentication(BaseAuthentication):
    """Makes `request.user` the delegated user, and `request.auth` the Caller with the connection.

    It lets nobody pass: without a valid credential, beyond the limit of the address, or while
    access is off, it raises the ToolError that says so. Beside other classes it comes last.
    """

    @override
    def authenticate(self, request: Request) -> tuple[Any, Caller]:
        caller = admission_of(request).caller
        return caller.connection.user, caller

    @override
    def authenticate_header(self, request: Request) -> str:
        return format_challenge({})
