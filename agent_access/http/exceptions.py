"""What REST framework raises, in the words of the tools."""

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.settings import api_settings

from agent_access import conf, errors
from agent_access.execution import find_tool_error
from agent_access.failures import PROBLEMS
from agent_access.fields import NAME_PLACEHOLDER, safe_name
from agent_access.throttling import WINDOW_SECONDS

__all__ = ["RefusedConnectionError", "exception_handler"]

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
# What a view of the project answers itself; any other refusal of its own is a conflict.
REFUSALS_BY_STATUS: Mapping[int, type[errors.ToolError]] = {
    400: errors.ValidationFailedError,
    401: errors.ForbiddenError,  # of a view that a tool runs, whose caller is known
    403: errors.ForbiddenError,
    404: errors.NotFoundError,
    410: errors.NotFoundError,
    422: errors.ValidationFailedError,
}
FIRST_REFUSAL, FIRST_FAILURE = 400, 500

# The codes of REST framework's problems whose texts repeat what was sent.
REPEATING = {"does_not_exist", "incorrect_type", "invalid_choice", "not_a_list"}


class RefusedConnectionError(exceptions.APIException):
    """A refusal of a connection that every exception handler answers, with the body of a tool's."""

    def __init__(self, error: errors.ToolError) -> None:
        super().__init__(error.body(), error.code)
        self.error, self.status_code = error, int(error.status)
        self.auth_header = error.headers.get("WWW-Authenticate")
        self.wait = int(error.headers.get("Retry-After", 0))


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response:
    """Return the answer to any exception: a refusal that agents know, or 503 for all others.

    A view returns it from `get_exception_handler`; where every view is for agents, it can be
    REST_FRAMEWORK's EXCEPTION_HANDLER.
    """
    error = find_tool_error(_translate(exc, context["view"]))
    return Response(error.body(), status=error.status, headers=error.headers)


def _translate(exc: Exception, view: Any) -> Exception:
    if isinstance(exc, RefusedConnectionError):
        return exc.error
    if isinstance(exc, exceptions.Throttled):
        return errors.RateLimitedError(retry_after=exc.wait or WINDOW_SECONDS)
    if isinstance(exc, exceptions.MethodNotAllowed):
        return errors.MethodNotAllowedError(view.allowed_methods)
    return REFUSALS[type(exc)]() if type(exc) in REFUSALS else exc


def find_answer(failure: Exception) -> errors.ToolError | None:
    """Return what answers an exception of a project's own view; None for a bug.

    REST framework's own exceptions keep the view's words; any other is first the policy's.
    """
    own_words = _find_refusal(failure)
    if own_words and type(failure).__module__ == exceptions.__name__:
        return own_words
    return conf.policy().answer_failure(failure) or own_words


def _find_refusal(failure: Exception) -> errors.ToolError | None:
    if isinstance(failure, Http404):
        failure = exceptions.NotFound()
    elif isinstance(failure, PermissionDenied):
        failure = exceptions.PermissionDenied(str(failure) or None)
    match failure:
        case errors.ToolError():
            return failure
        case RefusedConnectionError():
            return failure.error
        case exceptions.ValidationError():
            return errors.ValidationFailedError(_find_problems(failure.detail))
        case exceptions.Throttled():
            return errors.RateLimitedError(retry_after=ceil(failure.wait or WINDOW_SECONDS))
        case exceptions.APIException() if failure.status_code < FIRST_FAILURE:
            is_own = failure.detail != failure.default_detail
            return _refuse_by_status(failure.status_code, failure.detail if is_own else "")
    return None


def refuse_answer(status: int, data: Any) -> errors.ToolError:
    """Return the refusal for an answer of 400 or more that a project's own view returned."""
    detail = data.get("detail", "") if isinstance(data, Mapping) else ""
    if status >= FIRST_FAILURE:
        return errors.UnavailableError()
    if REFUSALS_BY_STATUS.get(status) is errors.ValidationFailedError and not detail:
        return errors.ValidationFailedError(_find_problems(data))
    return _refuse_by_status(status, detail)


def _refuse_by_status(status: int, detail: Any) -> errors.ToolError:
    kind = REFUSALS_BY_STATUS.get(status, errors.ConflictError)
    if kind is errors.NotFoundError:  # it never tells why
        return kind()
    return kind(message=str(detail) if isinstance(detail, str) else "")


def _find_problems(detail: Any, path: str = "") -> Iterator[errors.FieldProblem]:
    """Yield each problem of REST framework's nested dicts and lists with its dotted path."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            is_field = name != api_settings.NON_FIELD_ERRORS_KEY
            yield from _find_problems(inner, _join(path, str(name)) if is_field else path)
    elif isinstance(detail, list) and any(isinstance(each, Mapping | list) for each in detail):
        for place, inner in enumerate(detail):
            yield from _find_problems(inner, _join(path, str(place)))
    else:
        for each in detail if isinstance(detail, list) else [detail]:
            code = getattr(each, "code", "")
            text = PROBLEMS[code] if code in REPEATING else str(each)
            yield errors.FieldProblem(path or NAME_PLACEHOLDER, text)


def _join(path: str, name: str) -> str:
    return f"{path}.{safe_name(name)}" if path else safe_name(name)
