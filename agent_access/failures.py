"""The refusals of Django and REST framework as answers to a tool's call."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import (
    NON_FIELD_ERRORS,
    ObjectDoesNotExist,
    PermissionDenied,
    ValidationError,
)
from django.http import Http404

from agent_access import errors
from agent_access.errors import FieldProblem, ToolError
from agent_access.fields import NAME_PLACEHOLDER, REQUIRED, TEXTS, UNKNOWN_PROBLEM, safe_name

# By the codes that Django's and REST framework's validators share. Their messages are not repeated:
# some quote what was sent.
PROBLEMS: Mapping[str, str] = {
    "required": REQUIRED,
    "null": "must not be null",
    "blank": TEXTS["string_too_short"],
    "empty": TEXTS["string_too_short"],
    "invalid": "has another form than it must have",
    "invalid_choice": "must be one of the choices",
    "not_a_list": TEXTS["list_type"],
    "does_not_exist": "must be the ID of a record",
    "incorrect_type": "must be the ID of a record",
    "unique": "must not be the same as another record's",
    "unique_together": "must not be the same as another record's",
    "max_length": "is too long",
    "min_length": "is too short",
    "max_value": "is too large",
    "min_value": "is too small",
    "max_digits": "has too many digits",
    "max_decimal_places": "has too many decimal places",
    "max_whole_digits": "has too many digits before the decimal point",
}

# REST framework's exceptions that refuse, by their status.
REFUSALS: Mapping[int, type[ToolError]] = {
    HTTPStatus.UNAUTHORIZED: errors.ForbiddenError,  # the agent itself was let in
    HTTPStatus.FORBIDDEN: errors.ForbiddenError,
    HTTPStatus.NOT_FOUND: errors.NotFoundError,
}


def answer_failure(failure: Exception) -> ToolError | None:
    """Return the answer to an exception by which Django or REST framework refuses, else None."""
    match failure:
        case PermissionDenied():
            return errors.ForbiddenError()
        case Http404() | ObjectDoesNotExist():
            return errors.NotFoundError()
        case ValidationError():
            return errors.ValidationFailedError(list(_read_django(failure)))
    # Known by what only it has: what a tool calls may raise errors with a status of their own.
    if not callable(getattr(failure, "get_full_details", None)):
        return None
    rest_failure: Any = failure
    if rest_failure.status_code == HTTPStatus.BAD_REQUEST:
        return errors.ValidationFailedError(list(_read_rest(rest_failure.get_codes(), ())))
    refusal = REFUSALS.get(rest_failure.status_code)
    return refusal() if refusal else None


def _read_django(failure: ValidationError) -> Iterator[FieldProblem]:
    by_field = failure.error_dict if hasattr(failure, "error_dict") else {"": failure.error_list}
    for field, wrong in by_field.items():
        path = () if field == NON_FIELD_ERRORS else (field,)
        for each in wrong:
            yield _problem(path, each.code)


def _read_rest(codes: Any, path: tuple[str, ...]) -> Iterator[FieldProblem]:
    """Yield the problems of a tree of codes: by field, by place in a list, or all of one field."""
    if isinstance(codes, dict):
        for name, inner in codes.items():
            is_field = name != "non_field_errors"
            yield from _read_rest(inner, (*path, str(name)) if is_field else path)
    elif isinstance(codes, list):
        for place, inner in enumerate(codes):
            is_entry = isinstance(inner, dict)
            yield from _read_rest(inner, (*path, str(place)) if is_entry else path)
    else:
        yield _problem(path, codes)


def _problem(path: tuple[str, ...], code: str | None) -> FieldProblem:
    named = ".".join(safe_name(name) for name in path if name)
    return FieldProblem(named or NAME_PLACEHOLDER, PROBLEMS.get(code or "", UNKNOWN_PROBLEM))
