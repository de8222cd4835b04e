"""What REST framework raises, in the words of the tools."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from agent_access import errors
from agent_access.execution import find_tool_error
from agent_access.throttling import WINDOW_SECONDS

REFUSALS: Mapping[type[Exception], type[errors.ToolError]] = {
    Http404: errors.NotFoundError,
    PermissionDenied: errors.ForbiddenError,
    exceptions.AuthenticationFailed: errors.UnauthenticatedError,
    exceptions.NotAuthenticated: errors.UnauthenticatedError,
    exceptions.NotFound: errors.NotFoundError,
    exceptions.ParseError: errors.UnreadableJsonError,
    exceptions.PermissionDenied: errors.ForbiddenError,
    exceptions.UnsupportedMediaType: errors.JsonRequiredError,
}


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response:
    """Return the answer to any exception: a refusal that agents know, or 503 for all others.

    A view returns it from `get_exception_handler`; where every view is for agents, it can be
    REST_FRAMEWORK's EXCEPTION_HANDLER.
    """
    error = find_tool_error(_translate(exc, context["view"]))
    return Response(error.body(), status=error.status, headers=error.headers)


def _translate(exc: Exception, view: Any) -> Exception:
    if isinstance(exc, exceptions.Throttled):
        return errors.RateLimitedError(retry_after=exc.wait or WINDOW_SECONDS)
    if isinstance(exc, exceptions.MethodNotAllowed):
        return errors.MethodNotAllowedError(view.allowed_methods)
    return REFUSALS[type(exc)]() if type(exc) in REFUSALS else exc
