"""Which revision a request speaks: the ladder, row by row, and header fields as they may come."""

import base64

import pytest

from tests.mcp_agent import LEGACY, MODERN, McpAgent
from tests.mcp_gateway.answers import audit_of, error, seen, unsupported

# Which revision a request speaks is read in its header and body, in no database.
pytestmark = pytest.mark.sqlite

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

UNHEARD_OF = "2031-01-01"


def mismatch(header):
    message = f"The header {header} is missing or does not match the body."
    return error(400, -32020, message, id=1)


def post(agent, *, meta, headers, method="tools/list", name=None):
    """Post a request with this `_meta` (None: none) and these header fields only."""
    given = {"_meta": meta, "name": name}
    params = {key: value for key, value in given.items() if value is not None}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    nothing = {"MCP-Protocol-Version": None, "Mcp-Method": None, "Mcp-Name": None}
    return agent.post(message, headers=nothing | headers)


def header(version):
    return {"MCP-Protocol-Version": version}


FULL = {VERSION: MODERN, CAPABILITIES: {}}
LEGACY_CLAIM = FULL | {VERSION: LEGACY[-1]}
UNKNOWN_CLAIM = FULL | {VERSION: UNHEARD_OF}
BOTH = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}

WRONG_VERSION, WRONG_METHOD = mismatch("MCP-Protocol-Version"), mismatch("Mcp-Method")
WITHOUT_VERSION = error(400, -32602, "params._meta must name the protocol version.", id=1)
WITHOUT_CAPABILITIES = error(400, -32602, "params._meta must name the client's capabilities.", id=1)

# Each row falls from one rung: what stands below it in the ladder is wrong too, where it can be.
LADDER = {
    "modern header alone": (None, BOTH, WITHOUT_VERSION),
    "_meta is no object": ("x", header(MODERN), WITHOUT_VERSION),
    "_meta names no version": ({}, header(MODERN), WITHOUT_VERSION),
    "the version is no text": ({VERSION: 5}, {}, WITHOUT_VERSION),
    "no capabilities": ({VERSION: MODERN}, {}, WITHOUT_CAPABILITIES),
    "capabilities are no object": (FULL | {CAPABILITIES: []}, {}, WITHOUT_CAPABILITIES),
    "no version header": (FULL, {}, WRONG_VERSION),
    "a legacy version header": (FULL, header(LEGACY[-1]), WRONG_VERSION),
    "another legacy header on a legacy claim": (LEGACY_CLAIM, header(LEGACY[0]), WRONG_VERSION),
    "a modern header on a legacy claim": (LEGACY_CLAIM, header(MODERN), WRONG_VERSION),
    "an unknown header on a legacy claim": (LEGACY_CLAIM, header(UNHEARD_OF), WRONG_VERSION),
    "no method header": (FULL, header(MODERN), WRONG_METHOD),
    "another method header": (FULL, BOTH | {"Mcp-Method": "tools/call"}, WRONG_METHOD),
    "a method header of other case": (FULL, BOTH | {"Mcp-Method": "Tools/List"}, WRONG_METHOD),
    "no method header and an unknown version": (UNKNOWN_CLAIM, header(UNHEARD_OF), WRONG_METHOD),
    "an unknown version": (UNKNOWN_CLAIM, BOTH | header(UNHEARD_OF), unsupported(UNHEARD_OF, id=1)),
    "an unknown header alone": (None, header(UNHEARD_OF), unsupported(UNHEARD_OF, id=1)),
    "a revision that is too old": (None, header("2024-11-05"), unsupported("2024-11-05", id=1)),
    "an empty header": (None, header(""), unsupported("?", id=1)),
}


@pytest.mark.parametrize("row", LADDER)
def test_a_request_falls_from_the_first_rung_that_it_misses(agent, connection, row):
    meta, headers, expected = LADDER[row]
    assert seen(post(agent, meta=meta, headers=headers)) == expected
    assert audit_of(connection) == [("mcp.message", "validation_failed", "mcp")]


def test_a_version_that_may_be_a_secret_is_not_repeated(agent):
    secret = f"ivc_{'x' * 43}"
    answer = post(agent, meta=FULL | {VERSION: secret}, headers=BOTH | header(secret))
    assert seen(answer) == unsupported("?", id=1)


@pytest.mark.parametrize("version", LEGACY)
@pytest.mark.parametrize("has_header", [True, False])
def test_an_envelope_that_names_a_legacy_revision_is_served_as_legacy(agent, version, has_header):
    speaker = McpAgent(agent.credential, version=version)
    headers = header(version) if has_header else {}
    answer = post(speaker, meta={VERSION: version, CAPABILITIES: {}}, headers=headers)
    assert answer.status == 200
    assert list(answer.body["result"]) == ["tools"]


def test_a_request_that_names_no_revision_is_a_legacy_one(legacy):
    answer = post(legacy, meta=None, headers={})
    assert list(answer.body["result"]) == ["tools"]


@pytest.mark.parametrize("name", ["mcp-protocol-version", "MCP-PROTOCOL-VERSION"])
@pytest.mark.parametrize("value", [MODERN, f" {MODERN}", f"\t{MODERN} \t"])
def test_header_names_have_no_case_and_values_no_white_space_around(agent, name, value):
    headers = {name: value, "MCP-METHOD": " tools/list"}
    assert post(agent, meta=FULL, headers=headers).status == 200


def encode(text):
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(
    "name", ["customers_search", " customers_search\t", encode("customers_search")]
)
def test_the_name_header_is_read_plain_or_encoded(agent, name):
    headers = BOTH | {"Mcp-Method": "tools/call", "Mcp-Name": name}
    answer = post(agent, method="tools/call", meta=FULL, headers=headers, name="customers_search")
    assert (answer.status, answer.body["result"]["isError"]) == (200, False)


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "Customers_Search",
        "customers_get",
        "customers.search",
        encode("customers_get"),
        encode("customers_search").upper(),
        encode("customers_search").replace("?base64?", "?BASE64?"),
        "=?base64?Y3V?=",
        "=?base64?/w==?=",
        "=?base64??=",
    ],
)
def test_a_name_header_that_says_something_else_is_refused(agent, connection, name):
    headers = BOTH | {"Mcp-Method": "tools/call", "Mcp-Name": name}
    answer = post(agent, method="tools/call", meta=FULL, headers=headers, name="customers_search")
    assert seen(answer) == mismatch("Mcp-Name")
    assert audit_of(connection) == [("mcp.message", "validation_failed", "mcp")]


def test_a_name_beyond_ascii_is_compared_after_decoding(agent):
    headers = BOTH | {"Mcp-Method": "tools/call", "Mcp-Name": encode("Größe")}
    answer = post(agent, method="tools/call", meta=FULL, headers=headers, name="Größe")
    assert answer.body["error"]["data"] == {"code": "not_found"}


@pytest.mark.parametrize("method", ["tools/call", "tools/list", "ping"])
def test_a_legacy_client_needs_no_further_header(legacy, method):
    answer = legacy.send(method, {"name": "teams_list"} if method == "tools/call" else None)
    assert answer.status == 200


@pytest.mark.parametrize(
    ("claim", "version"), [(None, UNHEARD_OF), (UNHEARD_OF, None), (5, MODERN), (None, "")]
)
def test_a_notification_of_an_unknown_revision_is_refused(agent, claim, version):
    params = {} if claim is None else {"params": {"_meta": {VERSION: claim}}}
    message = {"jsonrpc": "2.0", "method": "notifications/initialized", **params}
    answer = agent.post(message, headers=header(version))
    assert seen(answer) == unsupported(str(claim or version or "?"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("Mcp-Session-Id", "made-up"), ("Last-Event-ID", "5"), ("Accept", "text/html")],
)
def test_header_fields_of_other_designs_are_ignored(speaker, name, value):
    answer = speaker.send("tools/list", headers={name: value})
    assert answer.status == 200
    assert "Mcp-Session-Id" not in answer.headers
