"""The HTTP tools as one OpenAPI 3.1 document, read from the registry."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import override

from agent_access import conf, errors
from agent_access.calls import Page
from agent_access.errors import ToolError
from agent_access.inputs import ID_SCHEMA, KEY_HEADER, KEY_SCHEMA
from agent_access.listing import TOOLS_LIST
from agent_access.tools import API_PATH, JSONSchema, PlainJsonSchema, Tool, registry

VERSION = "3.1.0"
SECURITY = "bearer"

# What a response says of its header fields; each is named by the responses that carry it.
HEADERS: Mapping[str, JSONSchema] = {
    "X-Request-Id": {
        "description": "Names this request in the service's log and audit.",
        "required": True,
        "schema": ID_SCHEMA,
    },
    "Cache-Control": {
        "description": "Nothing is stored.",
        "required": True,
        "schema": {"const": "no-store"},
    },
    "RateLimit-Policy": {
        "description": "The quotas that count this caller, once it is counted.",
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": "What each quota leaves, and the seconds until it is full again.",
        "schema": {"type": "string"},
    },
    "Idempotent-Replayed": {
        "description": "Present where a stored answer was given again.",
        "schema": {"const": "true"},
    },
    "WWW-Authenticate": {
        "description": "The Bearer challenge (RFC 6750).",
        "required": True,
        "schema": {"type": "string"},
    },
    "Retry-After": {
        "description": "Whole seconds until the window is over.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
    "Allow": {
        "description": "The methods that this address answers.",
        "required": True,
        "schema": {"type": "string"},
    },
}
EVERYWHERE = ("X-Request-Id", "Cache-Control", "RateLimit-Policy", "RateLimit")
OWN_HEADERS: Mapping[type[ToolError], str] = {
    errors.UnauthenticatedError: "WWW-Authenticate",
    errors.RateLimitedError: "Retry-After",
    errors.MethodNotAllowedError: "Allow",
}

# The refusals of every address, as one reads the interface's table.
COMMON_REFUSALS: tuple[type[ToolError], ...] = (
    errors.UnauthenticatedError,
    errors.ForbiddenError,
    errors.NotFoundError,
    errors.MethodNotAllowedError,
    errors.ConflictError,
    errors.PayloadTooLargeError,
    errors.JsonRequiredError,
    errors.ValidationFailedError,
    errors.RateLimitedError,
    errors.UnavailableError,
)

KEY: JSONSchema = {"name": KEY_HEADER, "in": "header", "required": True, "schema": KEY_SCHEMA}


class _ClosedJsonSchema(PlainJsonSchema):
    """An answer holds the fields of its shape and no other."""

    @override
    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        described = super().typed_dict_schema(schema)
        return described | {"additionalProperties": False}


def describe_api() -> JSONSchema:
    """Return the document; the same from every machine and at every time."""
    tools = [TOOLS_LIST, *registry]
    service = conf.host().service()
    data, schemas = _describe_answers(tools)
    paths: dict[str, JSONSchema] = {}
    for tool in tools:
        operation = _describe_operation(tool, data[tool.name])
        paths.setdefault(API_PATH + tool.path, {})[tool.method.lower()] = operation
    return {
        "openapi": VERSION,
        "info": {
            "title": service.title,
            "version": service.version,
            "description": service.instructions,
        },
        "tags": [{"name": module} for module in registry.modules],
        "paths": paths,
        "components": {
            "schemas": _describe_bodies(tools) | schemas,
            "parameters": {KEY_HEADER: KEY},
            "headers": HEADERS,
            "responses": {kind.code: _describe_refusals([kind]) for kind in COMMON_REFUSALS},
            "securitySchemes": {SECURITY: _describe_security()},
        },
    }


def _describe_answers(tools: Iterable[Tool]) -> tuple[dict[str, JSONSchema], JSONSchema]:
    """Return the schema of each tool's whole answer, and of the shapes that they name."""
    adapters = [(tool.name, "serialization", TypeAdapter(_shape(tool)[1])) for tool in tools]
    described, definitions = TypeAdapter.json_schemas(
        adapters,  # type: ignore[arg-type]  # a list of literals is no list of str
        ref_template="#/components/schemas/{model}",
        schema_generator=_ClosedJsonSchema,
    )
    answers = {tool.name: _wrap(tool, described[tool.name, "serialization"]) for tool in tools}
    return answers, definitions.get("$defs", {})


def _shape(tool: Tool) -> tuple[Any, Any]:
    """Return whether a tool answers a Record or a Page, and of what, by its annotation."""
    answer = get_type_hints(tool.run).get("return")
    shapes = get_args(answer)
    return get_origin(answer) or answer, shapes[0] if shapes else Any


def _wrap(tool: Tool, data: JSONSchema) -> JSONSchema:
    if _shape(tool)[0] is not Page:
        return _closed(data=data)
    longest = tool.input_schema["properties"].get("limit", {}).get("maximum")
    bound = {} if longest is None else {"maxItems": longest}
    entries = {"type": "array", "items": data, **bound}
    after = {
        "type": ["string", "null"],
        "format": "uuid",
        "description": "To be passed as after; null on the last page.",
    }
    return _closed(data=entries, next=after)


def _closed(**properties: JSONSchema) -> JSONSchema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [*properties],
        "properties": properties,
    }


def _describe_bodies(tools: Iterable[Tool]) -> JSONSchema:
    return {tool.input.__name__: tool.input_schema for tool in tools if tool.takes_body}


def _describe_operation(tool: Tool, answer: JSONSchema) -> JSONSchema:
    content = {"application/json": {"schema": {"$ref": _input_reference(tool)}}}
    parameters = [*_describe_parameters(tool)]
    return {
        "operationId": tool.mcp_name,
        "summary": tool.title,
        "description": tool.description,
        **({"tags": [tool.module]} if tool.module else {}),
        "security": [{SECURITY: [tool.scope] if tool.scope else []}],
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": {"required": True, "content": content}} if tool.takes_body else {}),
        "responses": {str(int(tool.status)): _describe_success(tool, answer)}
        | {str(status): kinds for status, kinds in _describe_responses(tool)},
    }


def _input_reference(tool: Tool) -> str:
    return f"#/components/schemas/{tool.input.__name__}"


def _describe_parameters(tool: Tool) -> Iterator[JSONSchema]:
    if tool.takes_target:
        text = "The ID of the record."
        yield {"name": "id", "in": "path", "required": True, "description": text} | {
            "schema": ID_SCHEMA
        }
    if tool.writes:
        yield {"$ref": f"#/components/parameters/{KEY_HEADER}"}
    if not tool.takes_body:
        required = tool.input_schema.get("required", ())
        for name, schema in tool.input_schema["properties"].items():
            yield _describe_query_parameter(name, schema, is_required=name in required)


def _describe_query_parameter(name: str, schema: JSONSchema, *, is_required: bool) -> JSONSchema:
    plain = {key: value for key, value in schema.items() if key != "description"}
    text = {"description": schema["description"]} if "description" in schema else {}
    return {"name": name, "in": "query", "required": is_required, **text, "schema": plain}


def _describe_success(tool: Tool, answer: JSONSchema) -> JSONSchema:
    headers = (*EVERYWHERE, "Idempotent-Replayed") if tool.writes else EVERYWHERE
    return _describe_response(tool.status.phrase, answer, headers)


def _describe_response(text: str, schema: JSONSchema, headers: Iterable[str]) -> JSONSchema:
    return {
        "description": text,
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in headers},
        "content": {"application/json": {"schema": schema}},
    }


def _refusals_of(tool: Tool) -> list[type[ToolError]]:
    never: set[type[ToolError]] = {errors.MethodNotAllowedError}
    if not tool.takes_body:
        never |= {errors.PayloadTooLargeError, errors.JsonRequiredError}
    if not tool.writes:
        never |= {errors.ConflictError}
    common = (kind for kind in COMMON_REFUSALS if kind not in never)
    return sorted((*common, *tool.refusals), key=_status)


def _status(kind: type[ToolError]) -> int:
    return int(kind.status)


def _describe_responses(tool: Tool) -> Iterator[tuple[int, JSONSchema]]:
    for status, group in groupby(_refusals_of(tool), key=_status):
        kinds = list(group)
        is_common = kinds[0] in COMMON_REFUSALS and len(kinds) == 1
        reference = {"$ref": f"#/components/responses/{kinds[0].code}"}
        yield status, reference if is_common else _describe_refusals(kinds)


def _describe_refusals(kinds: Sequence[type[ToolError]]) -> JSONSchema:
    """Return the response of one status: which codes it may carry, and what to do about each."""
    text = "\n\n".join(f"`{kind.code}`: {kind.message}" for kind in kinds)
    own = [OWN_HEADERS[kind] for kind in kinds if kind in OWN_HEADERS]
    return _describe_response(text, _closed(error=_describe_error(kinds)), (*EVERYWHERE, *own))


def _describe_error(kinds: Sequence[type[ToolError]]) -> JSONSchema:
    fields: dict[str, JSONSchema] = {
        "code": {"type": "string", "enum": [kind.code for kind in kinds]},
        "message": {"type": "string"},
    }
    if errors.ValidationFailedError in kinds:
        text: JSONSchema = {"type": "string"}
        problems = _closed(field=text, problem=text)
        fields["fields"] = {"type": "array", "items": text, "uniqueItems": True}
        fields["problems"] = {"type": "array", "items": problems}
    return _closed(**fields)


def _describe_security() -> JSONSchema:
    terms = conf.host().scopes()
    scopes = "\n".join(f"- `{scope}`: {terms[scope].description}" for scope in registry.scopes)
    text = "The credential of a connection, or an access token of a browser sign-in. Scopes:"
    return {"type": "http", "scheme": "bearer", "description": f"{text}\n\n{scopes}"}
