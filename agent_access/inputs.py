"""From a client's arguments to a tool's input, with every wrong field named at once."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from agent_access.errors import FieldProblem, ValidationFailedError
from agent_access.fields import REQUIRED, JSONSchema, ToolInput, find_problems
from agent_access.models.receipts import KEY_LENGTH, KEY_PATTERN

KEY_HEADER = "Idempotency-Key"
KEY_SCHEMA: JSONSchema = {
    "type": "string",
    "pattern": KEY_PATTERN,
    "description": (
        "Names this operation. Send the same key when you repeat the same operation, and a new key"
        " only for a new operation."
    ),
}


def parse_input(
    model: type[ToolInput],
    arguments: Mapping[str, Any],
    *,
    known_problems: Iterable[FieldProblem] = (),
) -> ToolInput:
    """Return the tool's input; raise ValidationFailedError with known and newly found problems.

    Null stands for an optional field that is left out, unless the input keeps it.
    """
    problems = list(known_problems)
    given = {
        name: value
        for name, value in arguments.items()
        if value is not None or _is_needed(model, name)
    }
    try:
        parsed = model.model_validate(given)
    except ValidationError as error:
        problems.extend(problem for problem, _ in find_problems(error))
        raise ValidationFailedError(problems) from None
    if problems:
        raise ValidationFailedError(problems)
    return parsed


def _is_needed(model: type[ToolInput], name: str) -> bool:
    """Return whether the field is judged even if it is null: required, unknown, or kept."""
    field = model.model_fields.get(name)
    return field is None or field.is_required() or name in model.keeps_null


def find_key_problem(key: str | None, *, field: str) -> Iterator[FieldProblem]:
    """Yield what is wrong with an idempotency key. Interface: Limits, "Idempotency key"."""
    if key is None:
        yield FieldProblem(field, REQUIRED)
    elif not re.fullmatch(KEY_PATTERN, key):
        text = (
            f"must be a string of 1 to {KEY_LENGTH} ASCII letters, digits, underscores or hyphens"
        )
        yield FieldProblem(field, text)
