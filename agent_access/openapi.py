"""The HTTP tools as one OpenAPI 3.1 document, read from the registry."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, starmap

from agent_access import conf, errors, openapi_schemas
from agent_access.addresses import API, path_of
from agent_access.errors import ToolError
from agent_access.fields import ID_SCHEMA, JSONSchema
from agent_access.inputs import KEY_HEADER, KEY_SCHEMA
from agent_access.listing import TOOLS_LIST
from agent_access.tools import Tool, registry, without_null
from agent_access.translations import as_written

VERSION = "3.1.0"
SECURITY = "bearer"
TAG_WITHOUT_MODULE = "tools"

# The document is the same at every installation; each has an address of its own.
SERVER: JSONSchema = {
    "url": "https://{host}",
    "variables": {
        "host": {
            "default": "localhost:8443",
            "description": "The host and port of the application's address.",
        }
    },
}


def _header(
    description: str, schema: JSONSchema = openapi_schemas.TEXT, *, is_sent: bool = True
) -> JSONSchema:
    """Return a header field, and whether every response that names it carries it."""
    required = {"required": True} if is_sent else {}
    return {"description": description, **required, "schema": schema}


# Header fields, to which the responses that carry them refer.
HEADERS: Mapping[str, JSONSchema] = {
    "X-Request-Id": _header("Names this request in the service's log and audit.", ID_SCHEMA),
    "Cache-Control": _header("Nothing is stored.", {"const": "no-store"}),
    "RateLimit-Policy": _header(
        "The quotas that apply to this caller, once it has been counted.", is_sent=False
    ),
    "RateLimit": _header(
        "What each quota leaves, and the seconds until it is full again.", is_sent=False
    ),
    "Idempotent-Replayed": _header(
        "Present where a stored answer is given again.", {"const": "true"}, is_sent=False
    ),
    "WWW-Authenticate": _header("The Bearer challenge (RFC 6750)."),
    "Retry-After": _header(
        "Whole seconds until the window is over.", {"type": "integer", "minimum": 1}
    ),
    "Allow": _header("The methods that this address supports."),
}
EVERYWHERE = ("X-Request-Id", "Cache-Control", "RateLimit-Policy", "RateLimit")
OWN_HEADERS: Mapping[type[ToolError], str] = {
    errors.UnauthenticatedError: "WWW-Authenticate",
    errors.RateLimitedError: "Retry-After",
    errors.MethodNotAllowedError: "Allow",
}

# The refusals that any tool may give, in the order of the interface's table.
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


def describe_api() -> JSONSchema:
    """Return the document, which is the same at every installation."""
    tools = [TOOLS_LIST, *registry]
    service = conf.policy().service()
    inputs, answers, schemas = openapi_schemas.describe_bodies(tools)
    paths: dict[str, JSONSchema] = {}
    for tool in tools:
        operation = _describe_operation(tool, inputs.get(tool.name), answers[tool.name])
        paths.setdefault(path_of(API) + tool.path, {})[tool.method.lower()] = operation
    return {
        "openapi": VERSION,
        "info": {
            "title": service.title,
            "version": service.version,
            "description": service.instructions,
        },
        "servers": [SERVER],
        "tags": [{"name": tag} for tag in dict.fromkeys(map(_tag, tools))],
        "paths": paths,
        "components": {
            "schemas": openapi_schemas.join_schemas(
                schemas, openapi_schemas.describe_refusal_bodies(tools, COMMON_REFUSALS)
            ),
            "parameters": {KEY_HEADER: _describe_parameter(KEY_HEADER, "header", KEY_SCHEMA)},
            "headers": HEADERS,
            "responses": {kind.code: _describe_refusal([kind]) for kind in COMMON_REFUSALS},
            "securitySchemes": {SECURITY: _describe_security()},
        },
    }


def _tag(tool: Tool) -> str:
    """Return the tag, after which generated clients name a class."""
    return tool.module or TAG_WITHOUT_MODULE


def _describe_operation(tool: Tool, body: JSONSchema | None, answer: JSONSchema) -> JSONSchema:
    content = {"application/json": {"schema": body}}
    parameters = [*_describe_parameters(tool)]
    return {
        "operationId": tool.mcp_name,
        "summary": tool.title,
        "description": tool.description,
        "tags": [_tag(tool)],
        "security": [{SECURITY: [tool.scope] if tool.scope else []}],
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": {"required": True, "content": content}} if body else {}),
        "responses": {str(int(tool.status)): _describe_success(tool, answer)}
        | dict(_describe_refusals(tool)),
    }


def _describe_parameters(tool: Tool) -> Iterator[JSONSchema]:
    if tool.takes_target:
        schema = tool.id_schema | {"description": "The ID of the record."}
        yield _describe_parameter("id", "path", schema)
    if tool.writes:
        yield {"$ref": f"#/components/parameters/{KEY_HEADER}"}
    if not tool.takes_body:
        required = tool.input_schema.get("required", ())
        for name, schema in tool.input_schema["properties"].items():
            # A query string cannot express null.
            yield _describe_parameter(
                name, "query", without_null(schema), is_required=name in required
            )


def _describe_parameter(
    name: str, place: str, schema: JSONSchema, *, is_required: bool = True
) -> JSONSchema:
    plain = {key: value for key, value in schema.items() if key != "description"}
    text = {"description": schema["description"]} if "description" in schema else {}
    return {"name": name, "in": place, "required": is_required, **text, "schema": plain}


def _describe_success(tool: Tool, answer: JSONSchema) -> JSONSchema:
    headers = (*EVERYWHERE, "Idempotent-Replayed") if tool.writes else EVERYWHERE
    links = dict(starmap(_describe_link, tool.leads_to.items()))
    described = _describe_response(tool.status.phrase, answer, headers)
    return described | ({"links": links} if links else {})


def _describe_link(name: str, place: str) -> tuple[str, JSONSchema]:
    """Return where an answer leads, by the name of the operation, and the ID that it takes."""
    operation = name.replace(".", "_")
    parameters = {"id": f"$response.body#/data/{place}"}
    return operation, {"operationId": operation, "parameters": parameters}


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


def _describe_refusals(tool: Tool) -> Iterator[tuple[str, JSONSchema]]:
    """Yield each status by which the tool may be refused, with its response."""
    for status, group in groupby(_refusals_of(tool), key=_status):
        kinds = list(group)
        is_common = kinds[0] in COMMON_REFUSALS and len(kinds) == 1
        reference = {"$ref": f"#/components/responses/{kinds[0].code}"}
        yield str(status), reference if is_common else _describe_refusal(kinds)


def _describe_refusal(kinds: Sequence[type[ToolError]]) -> JSONSchema:
    """Return the response of one status: which codes it may carry, and what to do about each."""
    text = "\n\n".join(f"`{kind.code}`: {kind.message}" for kind in kinds)
    own = [OWN_HEADERS[kind] for kind in kinds if kind in OWN_HEADERS]
    return _describe_response(text, openapi_schemas.refer_to_refusals(kinds), (*EVERYWHERE, *own))


def _describe_security() -> JSONSchema:
    terms = conf.policy().scopes()
    scopes = "\n".join(
        f"- `{scope}`: {as_written(terms[scope].description)}" for scope in registry.scopes
    )
    text = "The credential of a connection, or an access token of a browser sign-in. Scopes:"
    return {"type": "http", "scheme": "bearer", "description": f"{text}\n\n{scopes}"}
