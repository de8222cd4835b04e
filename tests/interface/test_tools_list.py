"""The list of tools: what is granted and on, and schemas that an agent can fill without asking."""

from decimal import Decimal
from typing import Any

import pytest

from agent_access.models import AccessSettings, Connection
from agent_access.tools import registry
from invoicing.access import Permission
from invoicing.models import TaxCategory, TaxRate
from tests.factories import TaxRateFactory, UserFactory
from tests.interface.refusals import audit_of, invalid, refusal, seen
from tests.schemas import objects_within
from tests.tool_table import (
    DRAFT_WRITES,
    FIELDS,
    LINE,
    REQUIRED,
    REQUIRED_OF_A_LINE,
    TABLE,
    TAKING_A_DRAFT,
    WRITING,
)

# What is listed does not depend on the database.
pytestmark = [pytest.mark.http, pytest.mark.sqlite]

ENTRY_FIELDS = [
    *("name", "mcp_name", "title", "description", "method", "path", "scope"),
    *("idempotency_key_required", "input_schema"),
]
COMPOSITION = {"anyOf", "oneOf", "allOf", "not", "if", "then", "else"}
LISTED = [*TABLE][1:]


def listed_by(agent) -> dict[str, Any]:
    return {entry["name"]: entry for entry in agent.call("tools.list").data}


def names(agent) -> list[str]:
    return [entry["name"] for entry in agent.call("tools.list").data]


@pytest.mark.requirement("tool.tools_list", "service.tools", "versioning.path_prefix")
@pytest.mark.requirement("service.issue_tools")
def test_every_granted_tool_is_listed_in_the_interfaces_order(agent):
    answer = agent.call("tools.list")
    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert [list(entry) for entry in answer.data] == [ENTRY_FIELDS] * len(LISTED)
    said = [
        (each["name"], each["mcp_name"], each["method"], each["path"], each["scope"])
        for each in answer.data
    ]
    assert said == [
        (tool, tool.replace(".", "_"), *TABLE[tool].route, TABLE[tool].scope) for tool in LISTED
    ]


@pytest.mark.requirement("service.not_offered", "service.no_new_tax_rates")
@pytest.mark.requirement("service.no_catalog_no_ledger")
def test_the_service_offers_nothing_else(agent, connection, many_calls):
    others = ("tax-rates", "taxes", "items", "products", "payments", "bank-accounts", "exports")
    for name in (*others, "ledger", "ledgers", "journal", "emails", "invoices", "webhooks"):
        for path in (f"/api/v1/{name}", f"/api/v1/documents/{name}/send", f"/api/v1/{name}/1"):
            for method in ("GET", "POST", "PUT"):
                assert seen(agent.request(method, path)) == refusal("not_found"), path
    assert {tool.name for tool in registry} == {*LISTED}
    assert audit_of(connection) == []


def test_every_tool_has_a_title_and_a_text_of_its_own(agent):
    entries = listed_by(agent).values()
    assert len({entry["title"] for entry in entries}) == len(LISTED)
    assert len({entry["description"] for entry in entries}) == len(LISTED)
    assert all(len(entry["description"]) > 60 for entry in entries)


def test_the_tools_that_need_a_key_say_so_and_say_when_to_keep_it(agent):
    entries = listed_by(agent)
    assert {tool: entry["idempotency_key_required"] for tool, entry in entries.items()} == {
        tool: tool in WRITING for tool in LISTED
    }
    for tool in WRITING:
        assert "same idempotency key when you repeat" in entries[tool]["description"]
        assert "with the same fields in the same order" in entries[tool]["description"]
        assert "new key only for a new operation" in entries[tool]["description"]
    for tool in DRAFT_WRITES:
        assert "is not an invoice yet" in entries[tool]["description"]


@pytest.mark.parametrize("scope", registry.scopes)
def test_only_the_tools_of_the_granted_scopes_are_listed(connect, delegate, scope):
    _, agent = connect(delegate, scopes=[scope])
    assert names(agent) == [tool for tool, row in TABLE.items() if row.scope == scope]


@pytest.mark.requirement("authentication.pilot_capabilities", "versioning.scope_groups")
def test_a_connection_of_the_pilot_keeps_its_single_capabilities(agent, connection, calls):
    Connection.objects.filter(pk=connection.pk).update(grants=["documents.get", "teams.list"])
    assert names(agent) == ["documents.get", "teams.list"]
    statuses = {tool: call.made_by(agent).status for tool, call in calls.items()}
    allowed = {"tools.list", "documents.get", "teams.list"}
    assert statuses == {tool: 200 if tool in allowed else 403 for tool in TABLE}


@pytest.mark.parametrize("module", registry.modules)
def test_the_tools_of_a_module_that_is_off_are_not_listed(agent, module):
    AccessSettings.objects.update(modules_off=[module])
    assert names(agent) == [tool for tool in LISTED if TABLE[tool].module != module]


@pytest.mark.requirement("tool.grant_is_no_guarantee")
def test_a_grant_is_listed_though_the_user_lacks_the_permission(connect, calls):
    _, agent = connect(UserFactory.create())
    assert names(agent) == LISTED
    assert calls["documents.list"].made_by(agent).status == 403


def test_the_list_takes_no_parameter(agent):
    answer = agent.call("tools.list", {"limit": 5})
    assert seen(answer) == invalid(("limit", "is not a field of this tool"))


def test_every_schema_is_closed_inlined_and_plain_at_its_root(agent):
    for entry in listed_by(agent).values():
        root = entry["input_schema"]
        assert root["type"] == "object"
        assert "properties" in root
        assert not COMPOSITION & root.keys()
        for schema in objects_within(root):
            assert not {"$ref", "$defs", "definitions"} & schema.keys()
            if schema.get("type") == "object":
                assert schema["additionalProperties"] is False


def test_the_schemas_name_the_fields_of_the_interface(agent):
    schemas = {tool: entry["input_schema"] for tool, entry in listed_by(agent).items()}
    assert {tool: list(schema["properties"]) for tool, schema in schemas.items()} == FIELDS
    assert {
        tool: each["required"] for tool, each in schemas.items() if "required" in each
    } == REQUIRED
    assert schemas["teams.list"]["properties"]["limit"] == {
        "type": ["integer", "null"],
        "minimum": 1,
        "maximum": 50,
        "default": 25,
        "description": "Records per page.",
    }


def test_the_schema_of_a_line_names_its_fields_and_limits(agent):
    lines = listed_by(agent)["drafts.create"]["input_schema"]["properties"]["line_items"]
    line = lines["items"]
    assert (lines["minItems"], lines["maxItems"]) == (1, 100)
    assert line["required"] == REQUIRED_OF_A_LINE
    assert list(line["properties"]) == LINE
    assert line["properties"]["description"]["maxLength"] == 1000
    assert line["properties"]["unit"]["maxLength"] == 20
    assert line["properties"]["discount_type"]["enum"] == ["percent", "amount", None]


@pytest.mark.parametrize("tool", TAKING_A_DRAFT)
def test_the_schema_of_a_draft_names_the_tax_rates_of_today(agent, tool):
    standard = TaxRateFactory.create(name="VAT standard")
    odd = TaxRateFactory.create(name="Sales tax", percentage_ten_thousandths=88_750)
    TaxRateFactory.create(name="Old", is_active=False)

    def read() -> Any:
        line = listed_by(agent)[tool]["input_schema"]["properties"]["line_items"]["items"]
        rate = line["properties"]["tax_rate_id"]
        return rate["type"], rate["enum"], rate["description"].splitlines()[1:]

    assert read() == (
        ["string", "null"],
        [str(standard.id), str(odd.id), None],
        [f"{standard.id}: VAT standard, 19 %", f"{odd.id}: Sales tax, 8.875 %"],
    )
    TaxRate.objects.filter(pk=standard.pk).update(is_active=False)
    assert read()[1] == [str(odd.id), None]


def test_the_schema_of_a_draft_tells_in_words_what_a_rate_means_once_somebody_chose(agent):
    meanings = {
        "S": "taxed",
        "Z": "taxed at the zero rate",
        "E": "exempt from VAT",
        "AE": "the customer owes the tax (reverse charge)",
        "K": "goods to a business in another EU country, exempt (intra-community supply)",
        "G": "goods to a country outside the EU, exempt (export)",
        "O": "outside the scope of VAT",
    }
    assert list(meanings) == TaxCategory.values
    rates = [
        TaxRateFactory.create(
            name=category,
            category=category,
            percentage_ten_thousandths=70_000 if category == "S" else 0,
            names={"en": "A name"},
            reasons={"en": "A reason"},
        )
        for category in meanings
    ]
    schema = listed_by(agent)["drafts.create"]["input_schema"]
    described = schema["properties"]["line_items"]["items"]["properties"]["tax_rate_id"]
    assert described["description"].splitlines()[1:] == [
        f"{rate.id}: {rate.name}, {rate.percentage} %, {meanings[rate.name]}" for rate in rates
    ]


@pytest.mark.parametrize(
    ("permission", "told"),
    [(Permission.VIEW_DOCUMENT, ["documents.preview"]), (Permission.MANAGE, DRAFT_WRITES)],
)
def test_todays_values_are_for_who_may_call_the_tool(connect, tax_rate, permission, told):
    _, agent = connect(UserFactory.create(permissions=[permission]))
    entries = listed_by(agent)
    static = {tool.name: tool.input_schema for tool in registry}
    assert {tool for tool in LISTED if str(tax_rate.id) in str(entries[tool])} == set(told)
    for tool in set(LISTED) - set(told):
        assert entries[tool]["input_schema"] == static[tool]


@pytest.mark.parametrize("tool", TAKING_A_DRAFT)
def test_the_schema_of_a_draft_names_the_currencies_and_languages(agent, tool):
    fields = listed_by(agent)[tool]["input_schema"]["properties"]
    currencies = fields["currency_code"]["enum"]
    assert currencies == sorted(currencies)
    assert {"EUR", "USD", "JPY", "BHD"} < set(currencies)
    assert not {"XAU", "XTS", "XXX", "CLF", "UYW", "CHE", "COU"} & set(currencies)
    assert fields["language"]["enum"] == ["en", "de", "fr", "es", None]


def test_the_schema_tells_the_language_of_who_names_none(agent, draft_body):
    fields = listed_by(agent)["documents.preview"]["input_schema"]["properties"]
    draft_body.pop("language", None)
    preview = agent.call("documents.preview", draft_body)
    assert fields["language"]["default"] == preview.data["language"] == "en"


@pytest.mark.parametrize("tool", ["documents.list", "documents.get", *TAKING_A_DRAFT])
def test_where_totals_are_answered_the_text_says_what_they_are_worth(agent, draft_body, tool):
    text = listed_by(agent)[tool]["description"]
    assert "minor_unit tells how many digits are decimals" in text
    for code, worth in (
        ("EUR", "125.00 in a currency of two decimals such as EUR"),
        ("JPY", "12500 JPY"),
        ("BHD", "12.500 BHD"),
    ):
        preview = agent.call("documents.preview", draft_body | {"currency_code": code})
        decimals = preview.data["minor_unit"]
        assert worth.startswith(f"{Decimal(12_500).scaleb(-decimals):.{decimals}f} ")
        assert worth.endswith(code)
        assert worth in text


def test_every_listed_currency_is_taken_and_no_other(agent, draft_body, many_calls):
    schema = listed_by(agent)["documents.preview"]["input_schema"]
    listed = schema["properties"]["currency_code"]["enum"]
    for code in (*listed[::20], "BHD", "JPY"):
        preview = agent.call("documents.preview", draft_body | {"currency_code": code})
        assert preview.data["currency_code"] == code
    for code in ("XAU", "XTS", "CLF", "ZZZ"):
        refused = agent.call("documents.preview", draft_body | {"currency_code": code})
        assert refused.error["fields"] == ["currency_code"]


def test_the_list_leaves_the_static_schema_as_it_was(agent, tax_rate):
    agent.call("tools.list")
    for tool in registry:
        assert str(tax_rate.id) not in str(tool.input_schema)
