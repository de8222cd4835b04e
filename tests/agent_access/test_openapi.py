"""The OpenAPI document: what it says of each tool, and that it is kept true."""

import json
from dataclasses import replace
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from jsonschema import ValidationError
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from typing_extensions import TypedDict

from agent_access.calls import Record
from agent_access.fields import ID_PATTERN
from agent_access.openapi import describe_api
from agent_access.tools import inline_references, registry
from config.environment import PROJECT_FOLDER
from invoicing.agent_tools.inputs import CURSOR_PATTERN
from tests.api_document import check_documented, codes_of
from tests.schemas import objects_within
from tests.tool_table import TABLE, WITH_BODY, WITH_TARGET, WRITING

# Interface, "Errors", in its order; and the one that HTTP itself asks for.
REFUSALS = {
    "unauthenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "conflict": 409,
    "payload_too_large": 413,
    "json_required": 415,
    "validation_failed": 422,
    "rate_limited": 429,
    "unavailable": 503,
}
APPROVAL_STATES = ["pending", "rejected", "stale", "used"]
ISSUE_REFUSALS = {
    409: ["conflict", *(f"approval_{state}" for state in APPROVAL_STATES)],
    410: ["approval_expired"],
}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return describe_api()


def operation_of(document: dict[str, Any], tool: str) -> Any:
    method, path = TABLE[tool].route
    return document["paths"][path][method.lower()]


@pytest.mark.sqlite
def test_the_committed_document_is_the_one_that_the_command_prints():
    printed = StringIO()
    call_command("openapi", stdout=printed)
    committed = (PROJECT_FOLDER / "docs/openapi.json").read_text(encoding="utf-8")
    assert printed.getvalue() == committed, "Write it anew: ./dev openapi"


def test_the_document_is_valid_openapi(document):
    validate(document, cls=OpenAPIV31SpecValidator)
    assert document["openapi"] == "3.1.0"


def test_the_document_has_the_interfaces_table(document):
    described = {
        operation["operationId"]: (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    assert described == {tool.replace(".", "_"): row.route for tool, row in TABLE.items()}


@pytest.mark.parametrize("tool", TABLE)
def test_an_operation_says_its_scope_its_status_and_what_it_takes(document, tool):
    operation, row = operation_of(document, tool), TABLE[tool]
    assert operation["security"] == [{"bearer": [row.scope] if row.scope else []}]
    assert next(iter(operation["responses"])) == str(row.status)
    assert ("requestBody" in operation) == (tool in WITH_BODY)
    parameters = operation.get("parameters", [])
    key = {"$ref": "#/components/parameters/Idempotency-Key"}
    assert (key in parameters) == (tool in WRITING)
    places = [each["in"] for each in parameters if each != key]
    assert ("path" in places) == (tool in WITH_TARGET)


def test_a_query_parameter_is_never_null(document):
    listed = operation_of(document, "people.list")["parameters"]
    parameters = {each["name"]: each for each in listed}
    assert list(parameters) == ["search", "limit", "after", "team_id"]
    assert parameters["search"]["schema"] == {"type": "string", "maxLength": 100}
    page = {"type": "integer", "minimum": 1, "maximum": 50, "default": 25}
    assert parameters["limit"]["schema"] == page
    assert parameters["team_id"]["schema"] == {"type": "string", "pattern": f"^({ID_PATTERN})?$"}
    after = parameters["after"]["schema"]
    assert after == {"type": "string", "pattern": CURSOR_PATTERN}
    assert not any(each["required"] for each in parameters.values())


def test_a_body_is_described_by_the_static_schema(document, tax_rate):
    schemas = document["components"]["schemas"]
    for tool in WITH_BODY:
        registered = registry.find(tool)
        assert registered
        body = operation_of(document, tool)["requestBody"]
        assert body["required"] is True
        reference = body["content"]["application/json"]["schema"]["$ref"]
        schema = schemas[reference.rpartition("/")[2]]
        assert inline_references(schema, schemas) == registered.input_schema
    assert "enum" not in schemas["DraftInput"]["properties"]["currency_code"]
    assert str(tax_rate.id) not in json.dumps(describe_api())


def test_every_object_is_closed_but_the_schema_of_a_tool(document):
    opened = [
        schema
        for schema in objects_within(document)
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False
    ]
    assert opened == [{"type": "object", "additionalProperties": True}]
    description = document["components"]["schemas"]["ToolDescription"]
    assert description["properties"]["input_schema"] == opened[0]


def test_every_field_of_an_answer_is_always_there(document):
    for name, schema in document["components"]["schemas"].items():
        if "properties" in schema and not name.endswith("Input"):
            # Of a refusal without wrong fields, only some causes lie in a field.
            optional = ["fields"] if name == "ToolError" else []
            assert [*schema["required"], *optional] == [*schema["properties"]]


class CustomerPage(TypedDict):
    """A shape that another project may have: a leaf of a book."""

    leaf: int


def test_no_shape_takes_the_name_of_another_body(monkeypatch):
    run = Mock(__annotations__={"return": Record[CustomerPage]})
    monkeypatch.setitem(vars(registry.find("people.get")), "run", run)
    with pytest.raises(ImproperlyConfigured, match="CustomerPage is the name of two bodies"):
        describe_api()


# Generated clients call their types by the names of the schemas; what has none they number.
def test_every_body_and_every_object_in_it_has_one_name(document):
    contents = [each["content"] for each in objects_within(document) if "content" in each]
    assert all(each["application/json"]["schema"].keys() == {"$ref"} for each in contents)
    schemas = document["components"]["schemas"]
    named = list(schemas.values())
    objects = [each for each in objects_within(schemas) if "additionalProperties" in each]
    unnamed = [each for each in objects if each not in named]
    assert unnamed == [schemas["ToolDescription"]["properties"]["input_schema"]]
    choices = [each["enum"] for each in objects_within(document) if "enum" in each]
    assert [choice for choice in choices if choices.count(choice) > 1] == []


def test_a_pattern_says_the_whole_text(document):
    """Some generated clients search for it, others compare the beginning or all of the text."""
    patterns = [each["pattern"] for each in objects_within(document) if "pattern" in each]
    assert [each for each in patterns if not (each[0] == "^" and each[-1] == "$")] == []


def test_the_refusals_are_those_of_the_interface(document):
    responses = document["components"]["responses"]
    assert {name: codes_of(response) for name, response in responses.items()} == {
        code: [code] for code in REFUSALS
    }
    issue = operation_of(document, "documents.issue")["responses"]
    assert {status: codes_of(issue[str(status)]) for status in ISSUE_REFUSALS} == ISSUE_REFUSALS


@pytest.mark.parametrize("tool", TABLE)
def test_an_operation_names_each_refusal_by_its_status(document, tool):
    never = {"method_not_allowed"}
    never |= set() if tool in WITH_BODY else {"payload_too_large", "json_required"}
    never |= set() if tool in WRITING else {"conflict"}
    wanted = {status for code, status in REFUSALS.items() if code not in never}
    wanted |= set(ISSUE_REFUSALS) if tool == "documents.issue" else set()
    responses = operation_of(document, tool)["responses"]
    assert {int(status) for status in responses} == {TABLE[tool].status, *wanted}
    among_others = {"conflict"} if tool == "documents.issue" else set()
    for code in REFUSALS.keys() - never - among_others:
        assert responses[str(REFUSALS[code])] == {"$ref": f"#/components/responses/{code}"}


LINKS = {
    "drafts.create": {"documents_get", "drafts_update", "documents_issue_prepare"},
    "documents.issue_prepare": {"approvals_get", "documents_issue"},
    "documents.issue": {"documents_get"},
}


def test_an_answer_says_where_it_leads_and_which_id_is_needed_there(document):
    """Every link leads to an operation by an ID that the schema of the answer has."""
    for tool in TABLE:
        answer = operation_of(document, tool)["responses"][str(TABLE[tool].status)]
        links = answer.get("links", {})
        assert LINKS.get(tool, set()) <= set(links)
        for name, link in links.items():
            assert link["operationId"] == name in {each.replace(".", "_") for each in WITH_TARGET}
            place = link["parameters"]["id"].removeprefix("$response.body#/").split("/")
            schema = answer["content"]["application/json"]["schema"]
            for member in place:
                named = schema["$ref"].rpartition("/")[2]
                schema = document["components"]["schemas"][named]["properties"][member]
            assert schema["format"] == "uuid"


def test_a_refusal_names_the_header_field_of_its_own(document):
    responses, headers = (document["components"][each] for each in ("responses", "headers"))
    own = {"WWW-Authenticate": "unauthenticated", "Retry-After": "rate_limited"}
    for header, code in (own | {"Allow": "method_not_allowed"}).items():
        assert [name for name, each in responses.items() if header in each["headers"]] == [code]
        assert headers[header]["required"] is True


def test_an_answer_that_the_document_does_not_have_is_noticed(agent, customer):
    answer = agent.call("customers.search")
    [entry] = answer.data
    for wrong in ({"data": [entry | {"street": "Hidden Lane"}], "next": None}, {"data": [entry]}):
        content = json.dumps(wrong).encode()
        with pytest.raises(ValidationError):
            check_documented(*TABLE["customers.search"].route, replace(answer, content=content))
