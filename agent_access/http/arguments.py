"""The arguments of a request: its body, or its query with integers told from text by the schema."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from django.http import HttpRequest

from agent_access.bodies import JSONValue
from agent_access.calls import Arguments
from agent_access.errors import OBJECT_AS_TEXT, FieldProblem, ValidationFailedError
from agent_access.fields import UNKNOWN_FIELD, holds_json, safe_name
from agent_access.tools import Tool

INTEGER = re.compile(r"(-?(?:0|[1-9][0-9]{0,17}))(?:\.0+)?")


def read_arguments(
    request: HttpRequest, tool: Tool, *, read_body: Callable[[], JSONValue]
) -> Arguments:
    """Return the query, or for a tool that takes a body, that body.

    Raises what `read_body` raises, and ValidationFailedError for a body that is no object.
    """
    if not tool.takes_body:
        return read_query(request, tool)
    body = read_body()
    if holds_json(body):
        raise ValidationFailedError(message=OBJECT_AS_TEXT.format(name="body"))
    if not isinstance(body, dict):
        raise ValidationFailedError
    return Arguments(body, find_unknown_parameters(request))


def read_query(request: HttpRequest, tool: Tool) -> Arguments:
    """Return the query as the arguments of a tool that takes no body."""
    pairs = _parse(request)
    properties = tool.input_schema["properties"]
    values = {name: _value(text, properties.get(name, {})) for name, text in pairs}
    return Arguments(values, _find_repeated(pairs) if len(values) < len(pairs) else [])


def _find_repeated(pairs: list[tuple[str, str]]) -> list[FieldProblem]:
    counts = Counter(name for name, _ in pairs)
    return [
        FieldProblem(safe_name(name), "must be given once") for name in counts if counts[name] > 1
    ]


def find_unknown_parameters(request: HttpRequest) -> list[FieldProblem]:
    """Return a problem for each query parameter of a tool that takes a body."""
    return [FieldProblem(safe_name(name), UNKNOWN_FIELD) for name, _ in _parse(request)]


def _parse(request: HttpRequest) -> list[tuple[str, str]]:
    # WSGI hands over bytes as Latin-1 text. What is no UTF-8 becomes a lone surrogate, which no
    # text field accepts.
    raw = str(request.META.get("QUERY_STRING", "")).encode("latin-1")
    query = raw.decode(errors="surrogateescape")
    return parse_qsl(query, keep_blank_values=True, errors="surrogateescape")


def _value(text: str, schema: dict[str, Any]) -> str | int:
    is_integer = "integer" in schema.get("type", "")
    written = INTEGER.fullmatch(text) if is_integer else None
    return int(written[1]) if written else text
