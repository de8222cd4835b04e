"""The permission of a connection to call a view."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from typing_extensions import override

from agent_access.callers import Caller
from agent_access.errors import ForbiddenError, ToolError
from agent_access.execution import check_rights
from agent_access.http.exceptions import RefusedConnectionError
from agent_access.http.viewset_tools import find_tool

__all__ = ["HasGrant"]


class HasGrant(BasePermission):
    """Lets a connection in where the view is a tool that it may call, and everybody else.

    The tool is that of the action, or the `tool` of a view by hand. Combine it with other classes
    by `and` only: to people it says yes.
    """

    @override
    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, Caller):
            return True
        tool = find_tool(view) or getattr(view, "tool", None)
        try:
            if tool is None:
                raise ForbiddenError
            check_rights(tool, request.auth)
        except ToolError as error:
            raise RefusedConnectionError(error) from None
        return True
