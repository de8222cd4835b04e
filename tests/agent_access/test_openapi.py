"""The OpenAPI document: what it says of each tool, and that it is kept true."""

import json
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from jsonschema import ValidationError
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from typing_extensions import TypedDict

from agent_access.calls import Record
from agent_access.errors import ConflictError, ValidationFailedError
from agent_access.fields import ID_PATTERN
from agent_access.openapi import describe_api
from agent_access.openapi_schemas import refer_to, refer_to_refusals
from agent_access.tools import inline_references, registry
from config.environment import PROJECT_FOLDER
from invoicing.agent_host import InvoicingHost
from invoicing.agent_tools.inputs import CURSOR_PATTERN
from tests.agents import Answer
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
ISSUE_REFUSALS = {
    409: [
        "conflict",
        "approval_pending",
        "approval_rejected",
        "approval_stale",
        "approval_used",
    ],
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


def test_a_scope_without_words_is_told_in_words(monkeypatch):
    monkeypatch.setattr(InvoicingHost, "scopes", lambda _host: {})
    with pytest.raises(SystemCheckError, match="The host does not describe the scope people:read"):
        call_command("openapi", skip_checks=False)


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
    parameters = {
        each["name"]: each for each in operation_of(document, "people.list")["parameters"]
    }
    assert list(parameters) == ["search", "limit", "after", "team_id"]
    assert parameters["search"]["schema"] == {"type": "string", "maxLength": 100}
    assert parameters["limit"]["schema"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "default": 25,
    }
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


# Generated clients call their types by the names of the schemas; what has none they number.
def bodies_of(document: dict[str, Any]) -> list[Any]:
    """Return the schema of each body that is sent or answered."""
    return [
        each["content"]["application/json"]["schema"]
        for each in objects_within(document)
        if "content" in each
    ]


def test_every_body_and_every_object_in_it_has_a_name(document):
    assert all(body.keys() == {"$ref"} for body in bodies_of(document))
    schemas = document["components"]["schemas"]
    named = list(schemas.values())
    objects = [each for each in objects_within(schemas) if "additionalProperties" in each]
    unnamed = [each for each in objects if each not in named]
    assert unnamed == [schemas["ToolDescription"]["properties"]["input_schema"]]


def test_a_choice_of_several_places_has_one_name(document):
    choices = [each["enum"] for each in objects_within(document) if "enum" in each]
    assert [choice for choice in choices if choices.count(choice) > 1] == []


def test_one_name_holds_one_thing(document):
    schemas = document["components"]["schemas"]
    assert schemas["DocumentRecord"]["properties"] == {"data": refer_to("Document")}
    page = schemas["DocumentSummaryPage"]["properties"]
    assert page["data"] == {"type": "array", "items": refer_to("DocumentSummary")}
    drafts = [schemas[name]["properties"] for name in ("DraftInput", "DraftUpdateInput")]
    assert [draft["line_items"]["items"] for draft in drafts] == [refer_to("LineItemInput")] * 2


class Refusal(TypedDict):
    """A shape that another project may have."""

    why: str


class CustomerPage(TypedDict):
    """Likewise: a leaf of a book."""

    leaf: int


@pytest.mark.parametrize(
    ("name", "answer"), [("Refusal", Record[Refusal]), ("CustomerPage", Record[CustomerPage])]
)
def test_no_shape_takes_the_name_of_another_body(monkeypatch, name, answer):
    run = Mock(__annotations__={"return": answer})
    monkeypatch.setitem(vars(registry.find("people.get")), "run", run)
    with pytest.raises(ImproperlyConfigured, match=f"{name} is the name of two bodies"):
        describe_api()


def test_a_pattern_says_the_whole_text(document):
    """Some generated clients search for it, others compare the beginning or all of the text."""
    patterns = [each["pattern"] for each in objects_within(document) if "pattern" in each]
    assert [each for each in patterns if not (each[0] == "^" and each[-1] == "$")] == []


def test_a_generated_client_speaks_https_of_itself(document):
    [server] = document["servers"]
    assert (server["url"], [*server["variables"]]) == ("https://{host}", ["host"])


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


def test_only_a_wrong_field_always_names_fields(document):
    schemas = document["components"]["schemas"]
    assert schemas["ToolError"]["required"] == ["code", "message"]
    assert schemas["ValidationError"]["properties"]["problems"]["maxItems"] == 20
    assert schemas["ValidationError"]["required"] == ["code", "message", "problems", "fields"]
    assert refer_to_refusals([ConflictError]) == refer_to("Refusal")
    assert refer_to_refusals([ValidationFailedError]) == refer_to("ValidationRefusal")
    assert refer_to_refusals([ValidationFailedError, ConflictError]) == {
        "anyOf": [refer_to("ValidationRefusal"), refer_to("Refusal")]
    }


@pytest.mark.parametrize(
    ("code", "header"),
    [
        ("unauthenticated", "WWW-Authenticate"),
        ("rate_limited", "Retry-After"),
        ("method_not_allowed", "Allow"),
    ],
)
def test_a_refusal_names_the_header_field_of_its_own(document, code, header):
    responses = document["components"]["responses"]
    assert [name for name, each in responses.items() if header in each["headers"]] == [code]
    assert document["components"]["headers"][header]["required"] is True


def changed(answer: Answer, **parts: Any) -> Answer:
    body = json.dumps(parts.get("body", answer.body)).encode()
    headers = {**answer.headers, **parts.get("headers", {})}
    return Answer(parts.get("status", answer.status), headers, body)


def test_an_answer_that_the_document_does_not_have_is_noticed(agent, customer):
    method, path = TABLE["customers.search"].route
    answer = agent.call("customers.search")
    [entry] = answer.data
    check_documented(method, path, answer)
    for wrong in (
        {"data": [entry | {"street": "Hidden Lane"}], "next": None},
        {"data": [{"id": entry["id"]}], "next": None},
        {"data": [entry | {"id": "7"}], "next": None},
        {"data": [entry], "next": 7},
        {"data": [entry]},
    ):
        with pytest.raises(ValidationError):
            check_documented(method, path, changed(answer, body=wrong))
    with pytest.raises(KeyError, match="409"):
        check_documented(method, path, changed(answer, status=409))
    bare = Answer(answer.status, {"Cache-Control": "no-store"}, answer.content)
    with pytest.raises(AssertionError, match="X-Request-Id"):
        check_documented(method, path, bare)
