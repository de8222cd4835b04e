"""From a client's arguments to a tool's input, with every wrong field named at once."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from agent_access.errors import FieldProblem, ValidationFailedError
from agent_access.identifiers import read_id
from agent_access.models.receipts import KEY_LENGTH, KEY_PATTERN
from agent_access.tools import NULL, JSONSchema, ToolInput

# JSON has no type for IDs.
ID_SCHEMA: JSONSchema = {"type": "string", "format": "uuid"}
ID_PATTERN = r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"

KEY_HEADER = "Idempotency-Key"
KEY_SCHEMA: JSONSchema = {
    "type": "string",
    "pattern": KEY_PATTERN,
    "description": (
        "Names this operation. Send the same key when you repeat the same operation, and a new key"
        " only for a new operation."
    ),
}

# A name that a client made up is repeated only if it cannot be a secret: a field's name is shorter
# than any credential.
SAFE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
NAME_PLACEHOLDER = "?"

# Also for what is checked without pydantic.
REQUIRED = "is required"
UNKNOWN_FIELD = "is not a field of this tool"
NOT_A_STRING = "must be a string"

# The type of an error that a project's own validator raises through `problem()`.
PROBLEM = "problem"

# By pydantic's type of error, with what pydantic tells of it.
TEXTS: Mapping[str, str] = {
    PROBLEM: "{text}",
    "missing": REQUIRED,
    "extra_forbidden": UNKNOWN_FIELD,
    "string_type": NOT_A_STRING,
    "string_unicode": "must be Unicode text",
    "int_type": "must be an integer",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "too_long": "must have at most {max_length} entries",
    "string_too_long": "must have at most {max_length} characters",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
}
UNKNOWN_PROBLEM = "is wrong"

# Where a text came that holds what it should be, as models write them that encode JSON twice.
ENCODED_TEXTS: Mapping[str, str] = {
    TEXTS["list_type"]: "must be a list, not a string with JSON in it: send the list itself",
    TEXTS["model_type"]: "must be an object, not a string with JSON in it: send the object itself",
}
JSON_BEGINNING = re.compile(r"\s*[\[{]")


def problem(text: str) -> PydanticCustomError:
    """Return the error for a validator to raise; `text` is fixed and holds no submitted value."""
    return PydanticCustomError(PROBLEM, "{text}", {"text": text})


def holds_json(value: Any) -> bool:
    """Tell whether this is a string that holds a JSON list or object, to judge by its beginning."""
    return isinstance(value, str) and JSON_BEGINNING.match(value) is not None


def _parse_id(value: Any) -> UUID:
    if not isinstance(value, str):
        raise problem(NOT_A_STRING)
    try:
        return read_id(value)
    except ValueError:
        raise problem("must be the ID of a record") from None


def _read_whole(value: Any) -> Any:
    """Return 5 for 5.0: to JSON Schema, every number without a fraction is an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read_blank(value: Any) -> Any:
    return None if value == "" else value


# Fields of inputs. The ID of a record:
RecordId = Annotated[UUID, BeforeValidator(_parse_id), WithJsonSchema(ID_SCHEMA)]
# The ID from which a list goes on, or to which it is limited; an empty one is none:
OptionalId = Annotated[
    RecordId | None,
    BeforeValidator(_read_blank),
    WithJsonSchema({"type": ["string", NULL], "pattern": f"^({ID_PATTERN})?$"}),
]
# The last annotation of an integer, behind its limits:
WHOLE = BeforeValidator(_read_whole)


def parse_input(
    model: type[ToolInput],
    arguments: Mapping[str, Any],
    *,
    known_problems: Iterable[FieldProblem] = (),
) -> ToolInput:
    """Return the tool's input; raise ValidationFailedError with known and newly found problems.

    Null stands for any optional field that is left out.
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
        problems.extend(_read_problems(error))
        raise ValidationFailedError(problems) from None
    if problems:
        raise ValidationFailedError(problems)
    return parsed


def _is_needed(model: type[ToolInput], name: str) -> bool:
    """Tell whether the field must be judged even if it is null: it is required, or unknown."""
    field = model.model_fields.get(name)
    return field is None or field.is_required()


def find_key_problem(key: str | None, *, field: str) -> Iterator[FieldProblem]:
    """Yield what is wrong with an idempotency key. Interface: Limits, "Idempotency key"."""
    if key is None:
        yield FieldProblem(field, REQUIRED)
    elif not re.fullmatch(KEY_PATTERN, key):
        text = (
            f"must be a string of 1 to {KEY_LENGTH} ASCII letters, digits, underscores or hyphens"
        )
        yield FieldProblem(field, text)


def _read_problems(error: ValidationError) -> Iterator[FieldProblem]:
    for wrong in error.errors(include_url=False):
        yield FieldProblem(_path(wrong["loc"]), _describe(wrong))


def _describe(wrong: ErrorDetails) -> str:
    text = TEXTS.get(wrong["type"], UNKNOWN_PROBLEM)
    if holds_json(wrong["input"]):
        text = ENCODED_TEXTS.get(text, text)
    return text.format(**wrong.get("ctx", {}))


def _path(location: tuple[int | str, ...]) -> str:
    """Return the dotted path, or a placeholder: a name that is no Unicode text has no location."""
    return ".".join(safe_name(str(part)) for part in location) or NAME_PLACEHOLDER


def safe_name(name: str) -> str:
    """Return the name if it may be repeated to a client, else a placeholder."""
    return name if SAFE_NAME.fullmatch(name) else NAME_PLACEHOLDER
