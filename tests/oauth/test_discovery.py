"""The documents from which a client learns how to sign in, and the challenges that lead there."""

import json

import pytest

from agent_access.gate import TOOL_POLICY
from agent_access.switches import turn_sign_in
from tests.agents import BAD_CREDENTIAL, CHALLENGE, HttpAgent
from tests.mcp_agent import McpAgent
from tests.oauth.programs import BASE_URL, RESOURCE, parameters_of
from tests.tool_table import SCOPES

# What the documents say is in no database.
pytestmark = pytest.mark.sqlite

RESOURCE_DOCUMENT = {
    "resource": RESOURCE,
    "authorization_servers": [BASE_URL],
    "scopes_supported": list(SCOPES),
    "bearer_methods_supported": ["header"],
    "resource_name": "Agent invoicing",
}
SERVER_DOCUMENT = {
    "issuer": BASE_URL,
    "authorization_endpoint": f"{BASE_URL}/oauth/authorize",
    "token_endpoint": f"{BASE_URL}/oauth/token",
    "registration_endpoint": f"{BASE_URL}/oauth/register",
    "revocation_endpoint": f"{BASE_URL}/oauth/revoke",
    "scopes_supported": list(SCOPES),
    "response_types_supported": ["code"],
    "response_modes_supported": ["query"],
    "grant_types_supported": ["authorization_code", "refresh_token"],
    "token_endpoint_auth_methods_supported": ["none"],
    "revocation_endpoint_auth_methods_supported": ["none"],
    "code_challenge_methods_supported": ["S256"],
    "authorization_response_iss_parameter_supported": True,
    "client_id_metadata_document_supported": True,
}
DOCUMENTS = [
    ("/.well-known/oauth-protected-resource/mcp", RESOURCE_DOCUMENT),
    ("/.well-known/oauth-protected-resource", RESOURCE_DOCUMENT),
    ("/.well-known/oauth-authorization-server", SERVER_DOCUMENT),
    ("/.well-known/oauth-authorization-server/mcp", SERVER_DOCUMENT),
]
METADATA = f"{BASE_URL}/.well-known/oauth-protected-resource/mcp"
DISCOVERY = f'scope="{" ".join(SCOPES)}", resource_metadata="{METADATA}"'


@pytest.mark.requirement(
    "sign_in.resource_metadata", "sign_in.server_metadata", "sign_in.resource_named"
)
@pytest.mark.parametrize(("path", "document"), DOCUMENTS)
def test_a_document_says_exactly_what_is_true(machine, path, document):
    answer = machine.send("GET", path)
    assert (answer.status, answer.body) == (200, document)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("path", "document"), DOCUMENTS)
def test_a_document_follows_the_application_url(machine, settings, path, document):
    moved = f"{BASE_URL}:8443"
    settings.AGENT_ACCESS |= {"BASE_URL": moved}
    answer = machine.send("GET", path, headers={"Host": moved.removeprefix("https://")})
    expected = json.loads(json.dumps(document).replace(BASE_URL, moved))
    assert (answer.status, answer.body) == (200, expected)


NOTHING = [
    *(f"{path}{more}" for path, _ in DOCUMENTS[1:3] for more in ("/", "/api/v1", "/mcp/", "/x")),
    *("/.well-known/openid-configuration", "/.well-known/openid-configuration/mcp"),
    *("/mcp/.well-known/openid-configuration", "/mcp/.well-known/oauth-authorization-server"),
    *("/oauth/token/", "/oauth/register/x"),
]


@pytest.mark.requirement("sign_in.errors")
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("path", NOTHING)
def test_beside_the_documents_there_is_nothing_and_programs_can_read_that(machine, path, method):
    answer = machine.send(method, path)
    assert (answer.status, answer.headers["Content-Type"]) == (404, "application/json")
    assert answer.headers["Content-Security-Policy"] == TOOL_POLICY
    assert "error" in answer.body
    assert b"issuer" not in answer.content


def test_there_are_no_further_endpoints(machine):
    for path in ("/oauth/introspect", "/oauth"):
        assert machine.send("GET", path, headers={"Accept": "application/json"}).status == 404


@pytest.mark.requirement("transport.origin_at_sign_in", "sign_in.errors")
@pytest.mark.parametrize(
    "path", [path for path, _ in DOCUMENTS] + ["/oauth/register", "/oauth/token", "/oauth/revoke"]
)
@pytest.mark.parametrize("origin", ["https://client.example", "null", BASE_URL])
def test_an_origin_header_is_refused(machine, path, origin):
    method = "POST" if path.startswith("/oauth") else "GET"
    answer = machine.send(method, path, headers={"Origin": origin})
    assert (answer.status, answer.body["error"]) == (403, "invalid_request")
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.requirement("transport.base_url_for_sign_in")
@pytest.mark.parametrize("path", [path for path, _ in DOCUMENTS] + ["/oauth/token"])
@pytest.mark.parametrize(
    "change", [{"headers": {"Host": "other.example"}}, {"wsgi.url_scheme": "http"}]
)
def test_another_host_or_plain_http_is_refused(machine, path, change):
    answer = machine.send("GET", path, **change)
    assert (answer.status, answer.body["error"]) == (403, "invalid_request")


@pytest.mark.parametrize(("path", "document"), DOCUMENTS)
@pytest.mark.parametrize("method", ["POST", "HEAD", "OPTIONS", "DELETE"])
def test_a_document_is_only_read(machine, path, document, method):
    answer = machine.send(method, path)
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET"


@pytest.mark.parametrize(
    ("token", "challenge"), [(None, CHALLENGE), ("iva_" + "A" * 43, BAD_CREDENTIAL)]
)
def test_mcp_tells_strangers_and_bad_tokens_where_to_sign_in(machine, token, challenge):
    answer = McpAgent(token).request("POST", "/mcp")
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"] == f"{challenge}, {DISCOVERY}"


def test_the_http_tools_name_no_resource(machine):
    answer = HttpAgent(None).call("tools.list")
    assert answer.headers["WWW-Authenticate"] == CHALLENGE


def test_while_sign_in_is_off_no_challenge_leads_to_it(machine):
    turn_sign_in(on=False)
    answer = McpAgent(None).request("POST", "/mcp")
    assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, CHALLENGE)


@pytest.fixture
def reader(program, browser, delegate) -> str:
    """An access token that may only read customers and people."""
    scopes = ["people:read", "customers:read"]
    path = program.authorize_path(scope=" ".join(scopes))
    code = parameters_of(browser.allow(path, delegate, scopes=scopes))["code"]
    token: str = program.exchange(code).body["access_token"]
    return token


def test_mcp_names_the_granted_and_the_needed_scopes(reader):
    call = {"name": "documents_list", "arguments": {}}
    answer = McpAgent(reader).send("tools/call", call)
    assert (answer.status, answer.body["error"]["data"]["code"]) == (403, "forbidden")
    assert answer.headers["WWW-Authenticate"] == (
        f'{CHALLENGE}, error="insufficient_scope", '
        f'scope="customers:read invoices:read people:read", resource_metadata="{METADATA}"'
    )


def test_a_missing_permission_is_no_missing_scope(reader, delegate):
    delegate.user_permissions.clear()
    answer = McpAgent(reader).call("people.list")
    assert (answer.status, answer.code) == (403, "forbidden")
    assert "WWW-Authenticate" not in answer.headers


def test_a_pasted_credential_without_the_scope_gets_a_tool_error(connect, delegate, sign_in_on):
    _, http = connect(delegate, scopes=["people:read"])
    answer = McpAgent(http.credential).call("documents.list")
    assert (answer.status, answer.code) == (403, "forbidden")
    assert "WWW-Authenticate" not in answer.headers
