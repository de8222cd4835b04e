"""The schemas of the OpenAPI document, each named as generated clients should name its type."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

from django.core.exceptions import ImproperlyConfigured
from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import override

from agent_access.calls import Page
from agent_access.errors import MAX_PROBLEMS, ToolError, ValidationFailedError
from agent_access.fields import JSONSchema
from agent_access.tools import PlainJsonSchema, Tool, with_null

PATH = "#/components/schemas/{}"

TEXT: JSONSchema = {"type": "string"}
FIELDS: JSONSchema = {
    "type": "array",
    "items": TEXT,
    "uniqueItems": True,
    "description": "The paths of the fields in which the cause lies.",
}
NEXT = "Pass it as after for the next page; null on the last page."

# Pydantic's modes: for what a tool takes, and for what it gives.
TAKEN: Literal["validation"] = "validation"
GIVEN: Literal["serialization"] = "serialization"


def refer_to(name: str) -> JSONSchema:
    return {"$ref": PATH.format(name)}


def describe_bodies(tools: Sequence[Tool]) -> tuple[JSONSchema, JSONSchema, JSONSchema]:
    """Return the schemas of bodies and of answers by tool, and the schemas that they refer to."""
    taken = [(tool.name, TAKEN, TypeAdapter(tool.input)) for tool in tools if tool.takes_body]
    given = [(tool.name, GIVEN, TypeAdapter(_shape(tool)[1])) for tool in tools]
    described, definitions = TypeAdapter.json_schemas(
        [*taken, *given], ref_template=PATH.format("{model}"), schema_generator=_NamedJsonSchema
    )
    inputs = {name: described[name, TAKEN] for name, *_ in taken}
    answers, schemas = {}, definitions.get("$defs", {})
    for tool in tools:
        answer, name = _describe_answer(tool, described[tool.name, GIVEN])
        if name:
            schemas = join_schemas(schemas, {name: answer})
        answers[tool.name] = refer_to(name) if name else answer
    return inputs, answers, schemas


def join_schemas(known: JSONSchema, more: JSONSchema) -> JSONSchema:
    """Return both; raise ImproperlyConfigured if one name stands for two different schemas."""
    for name in known.keys() & more.keys():
        if known[name] != more[name]:
            raise ImproperlyConfigured(f"{name} is the name of two bodies; rename your shape")
    return known | more


class _NamedJsonSchema(PlainJsonSchema):
    """Each class is one schema; an answer holds the fields of its shape and no other."""

    @override
    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        described = super().typed_dict_schema(schema)
        return described | {"additionalProperties": False}


def _shape(tool: Tool) -> tuple[Any, Any]:
    """Return Record or Page, and the shape inside, from the annotation of the tool's function."""
    answer = get_type_hints(tool.run).get("return")
    shapes = get_args(answer)
    return get_origin(answer) or answer, shapes[0] if shapes else Any


def _describe_answer(tool: Tool, data: JSONSchema) -> tuple[JSONSchema, str | None]:
    """Return the schema of the whole answer, and its name if its shape has one: ThingRecord."""
    kind, _ = _shape(tool)
    shape = data.get("items", data).get("$ref")
    if kind is Page:
        answer, suffix = _closed(data={"type": "array", "items": data}, next=_next(tool)), "Page"
    else:
        answer, suffix = _closed(data=data), "List" if "items" in data else "Record"
    return answer, shape.rpartition("/")[2] + suffix if shape else None


def _next(tool: Tool) -> JSONSchema:
    return with_null(tool.id_schema) | {"description": NEXT}


def describe_refusal_bodies(tools: Iterable[Tool], common: Iterable[type[ToolError]]) -> JSONSchema:
    """Return the schemas of refusals: one for wrong fields, one for all other codes."""
    kinds = [*common, *(kind for tool in tools for kind in tool.refusals)]
    codes = dict.fromkeys(kind.code for kind in kinds if not _names_fields(kind))
    return {
        "Refusal": _closed(error=refer_to("ToolError")),
        "ToolError": _describe_error(*codes) | {"required": ["code", "message"]},
        "ValidationRefusal": _closed(error=refer_to("ValidationError")),
        "ValidationError": _describe_error(
            ValidationFailedError.code,
            problems={
                "type": "array",
                "items": refer_to("FieldProblem"),
                "maxItems": MAX_PROBLEMS,
                "description": "If there are more, the message says how many.",
            },
        ),
        "FieldProblem": _closed(field=TEXT, problem=TEXT),
    }


def refer_to_refusals(kinds: Iterable[type[ToolError]]) -> JSONSchema:
    """Return the schema of a body that carries one of these refusals."""
    names = ("ValidationRefusal" if _names_fields(kind) else "Refusal" for kind in kinds)
    choices = [refer_to(name) for name in dict.fromkeys(names)]
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _names_fields(kind: type[ToolError]) -> bool:
    return issubclass(kind, ValidationFailedError)


def _describe_error(*codes: str, **more: JSONSchema) -> JSONSchema:
    return _closed(code=TEXT | {"enum": [*codes]}, message=TEXT, **more, fields=FIELDS)


def _closed(**properties: JSONSchema) -> JSONSchema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [*properties],
        "properties": properties,
    }
