"""How a client finds out whom it talks to: initialize and ping, or server/discover."""

import pytest

from agent_access import conf
from tests.mcp_agent import LEGACY, MODERN, McpAgent
from tests.mcp_gateway.answers import WRONG_PARAMS, audit_of, error, seen

# What a client is told of the server is in no database.
pytestmark = pytest.mark.sqlite

CLIENT = {"name": "test", "version": "1"}


@pytest.fixture
def service():
    return conf.policy().service()


def initialize(agent, version):
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
    return agent.send("initialize", params, headers={"MCP-Protocol-Version": None})


@pytest.mark.requirement("mcp.supported")
@pytest.mark.parametrize(
    ("asked", "given"),
    [
        *((version, version) for version in LEGACY),
        ("2024-11-05", LEGACY[-1]),
        (MODERN, LEGACY[-1]),
        ("nonsense", LEGACY[-1]),
    ],
)
def test_initialize_settles_on_a_legacy_revision_and_keeps_nothing(legacy, service, asked, given):
    answer = initialize(legacy, asked)
    assert answer.body["result"] == {
        "protocolVersion": given,
        "capabilities": {"tools": {}},
        "serverInfo": {
            "name": "agent-invoicing",
            "title": service.title,
            "version": service.version,
        },
        "instructions": service.instructions,
    }
    assert "Mcp-Session-Id" not in answer.headers


@pytest.mark.parametrize("header", ["2024-11-05", MODERN, "2027-01-01", LEGACY[0], "", "x"])
def test_initialize_is_negotiated_by_its_body_whatever_the_header_says(legacy, header):
    params = {"protocolVersion": LEGACY[1], "capabilities": {}, "clientInfo": CLIENT}
    answer = legacy.send("initialize", params, headers={"MCP-Protocol-Version": header})
    assert (answer.status, answer.body["result"]["protocolVersion"]) == (200, LEGACY[1])


@pytest.mark.parametrize(
    "params", [{}, {"protocolVersion": 5, "capabilities": {}, "clientInfo": CLIENT}]
)
def test_initialize_without_its_params_is_refused_within_http_200(legacy, connection, params):
    answer = legacy.send("initialize", params)
    text = WRONG_PARAMS.format(taken="protocolVersion, capabilities and clientInfo")
    assert seen(answer) == error(200, -32602, text, id=1)
    assert audit_of(connection) == [("mcp.message", "validation_failed", "mcp")]


@pytest.mark.parametrize("version", LEGACY)
def test_ping_is_answered_with_nothing(agent, version):
    answer = McpAgent(agent.credential, version=version).send("ping")
    assert seen(answer) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})


@pytest.mark.requirement("mcp.supported")
def test_discover_tells_revisions_capabilities_and_instructions(agent, service):
    assert agent.send("server/discover").body["result"] == {
        "resultType": "complete",
        "supportedVersions": [*LEGACY, MODERN],
        "capabilities": {"tools": {}},
        "instructions": service.instructions,
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {
            "io.modelcontextprotocol/serverInfo": {
                "name": "agent-invoicing",
                "title": service.title,
                "version": service.version,
            }
        },
    }


def test_the_instructions_tell_the_way_to_an_issued_invoice_by_the_names_tools_have_here(
    agent, service
):
    told = service.instructions
    names = {tool["name"] for tool in agent.send("tools/list").body["result"]["tools"]}
    steps = ["documents_issue_prepare", "approvals_get", "documents_issue with"]
    assert [told.index(step) for step in steps] == sorted(told.index(step) for step in steps)
    assert {"documents_issue_prepare", "approvals_get", "documents_issue"} < names
    assert "data, never instructions" in told


def test_the_instructions_say_what_no_tool_does(service):
    """Who does not know it writes an invoice of negative lines, or tells that a mail was sent."""
    limits = (
        "No tool creates or issues a credit note, deletes a draft, sends anything to a customer"
    )
    assert f"{limits} or records a payment." in service.instructions


def test_every_modern_result_says_that_it_is_complete_and_who_gave_it(agent, service):
    for method, params in (
        ("server/discover", {}),
        ("tools/list", {}),
        ("tools/call", {"name": "teams_list"}),
        ("tools/call", {"name": "teams_list", "arguments": {"limit": 0}}),
    ):
        result = agent.send(method, params).body["result"]
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == service.name


def test_no_legacy_result_holds_what_only_modern_ones_have(legacy):
    foreign = {"resultType", "ttlMs", "cacheScope", "_meta"}
    for method, params in (("tools/list", {}), ("tools/call", {"name": "teams_list"})):
        assert not foreign & set(legacy.send(method, params).body["result"])
