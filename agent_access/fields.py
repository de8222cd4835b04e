"""How the fields of an input are declared: their types, and the problems that they name.

It is the language of declarations and knows no request, so that business code may use it too.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from agent_access.errors import FieldProblem
from agent_access.identifiers import read_id
from agent_access.keys import MAX_NUMBER

__all__ = [
    "WHOLE",
    "JSONSchema",
    "OptionalId",
    "OptionalNumber",
    "RecordId",
    "RecordNumber",
    "ToolInput",
    "problem",
]

JSONSchema = dict[str, Any]

# JSON has no type for IDs but for integers.
ID_SCHEMA: JSONSchema = {"type": "string", "format": "uuid"}
NUMBER_SCHEMA: JSONSchema = {"type": "integer", "minimum": 1, "maximum": MAX_NUMBER}
ID_PATTERN = r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"

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


def problem(text: str, code: str = PROBLEM, **values: int) -> PydanticCustomError:
    """Return the error for a validator to raise; `text` is fixed and holds no submitted value.

    `values` fill its placeholders, such as {longest}. Pages translate it if it is marked by
    gettext_noop. A form finds by the `code` which problems it words otherwise.
    """
    return PydanticCustomError(code, "{text}", {"text": text, **values})


def holds_json(value: Any) -> bool:
    """Return whether this is a string that begins like a JSON list or object."""
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
    WithJsonSchema({"type": ["string", "null"], "pattern": f"^({ID_PATTERN})?$"}),
]
# The last annotation of an integer, behind its limits:
WHOLE = BeforeValidator(_read_whole)
# The same two for records with integer keys:
RecordNumber = Annotated[int, Field(ge=1, le=MAX_NUMBER), WHOLE]
OptionalNumber = Annotated[RecordNumber | None, BeforeValidator(_read_blank)]


class ToolInput(BaseModel):
    """The arguments of a tool, without its target and its idempotency key: strict and closed.

    Null stands for an optional field that is left out, but where `keeps_null` names it: there it
    is a value of its own.
    """

    keeps_null: ClassVar[frozenset[str]] = frozenset()

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, validate_default=True, hide_input_in_errors=True
    )


def find_problems(error: ValidationError) -> Iterator[tuple[FieldProblem, str]]:
    """Yield each problem, and the code by which a form may word it otherwise."""
    for wrong in error.errors(include_url=False):
        phrase, values = _phrase_of(wrong), wrong.get("ctx", {})
        text = phrase.format(**values)
        yield FieldProblem(_path(wrong["loc"]), text, phrase, values), wrong["type"]


def _phrase_of(wrong: ErrorDetails) -> str:
    text = wrong.get("ctx", {}).get("text")
    phrase = str(text or TEXTS.get(wrong["type"], UNKNOWN_PROBLEM))
    return ENCODED_TEXTS.get(phrase, phrase) if holds_json(wrong["input"]) else phrase


def _path(location: tuple[int | str, ...]) -> str:
    """Return the dotted path, or a placeholder: a name that is no Unicode text has no location."""
    return ".".join(safe_name(str(part)) for part in location) or NAME_PLACEHOLDER


def safe_name(name: str) -> str:
    """Return the name if it may be repeated to a client, else a placeholder."""
    return name if SAFE_NAME.fullmatch(name) else NAME_PLACEHOLDER
