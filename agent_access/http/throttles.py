"""The limits per minute of an address and of a connection, over all transports together."""

from abc import ABC, abstractmethod
from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from typing_extensions import override

from agent_access.callers import Caller
from agent_access.http.requests import CallRequest, admission_of
from agent_access.throttling import Allowance

__all__ = ["AddressThrottle", "ConnectionThrottle"]


class AgentThrottle(BaseThrottle, ABC):
    """Refuses a request once its allowance is exceeded, until the window's end."""

    @abstractmethod
    def count(self, request: Request, view: Any) -> Allowance:
        """Count the request; raise UnavailableError if it cannot be counted."""

    @override
    def allow_request(self, request: Request, view: Any) -> bool:
        if isinstance(request, CallRequest):
            return True  # it was counted when the call came
        self.allowance = self.count(request, view)
        return not self.allowance.is_exceeded

    @override
    def wait(self) -> int:
        return self.allowance.reset_seconds


class AddressThrottle(AgentThrottle):
    """Counts per IP address; it needs no credential, and belongs before the authentication."""

    @override
    def count(self, request: Request, view: Any) -> Allowance:
        return admission_of(request).address


class ConnectionThrottle(AgentThrottle):
    """Counts per connection, and lets everybody else pass.

    The audit calls an excess by the name of the view's `tool`.
    """

    @override
    def allow_request(self, request: Request, view: Any) -> bool:
        return not isinstance(request.auth, Caller) or super().allow_request(request, view)

    @override
    def count(self, request: Request, view: Any) -> Allowance:
        return admission_of(request).count_connection(action=view.tool.name)
