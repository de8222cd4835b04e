"""Two editors sign in with their own registrations; the official client works with their tokens."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import anyio
import httpx2
import pytest

from agent_access.models import Connection
from invoicing.models import Document
from tests.https_server import HttpsServer
from tests.mcp_clients.test_python_client import open_client
from tests.oauth.editors import CURSOR, VS_CODE
from tests.oauth.programs import VERIFIER, challenge_of
from tests.tool_table import MCP_NAMES, SCOPES

# What the clients see is the same on both databases; tests/oauth asks both.
pytestmark = pytest.mark.sqlite

# Each with the return address that it listens at; VS Code takes any port if its own is not free.
EDITORS = [
    (CURSOR, "http://localhost:8787/callback"),
    (VS_CODE, "http://127.0.0.1:33418/"),
    (VS_CODE, "http://127.0.0.1:59656/"),
]


def sign_in(
    https_server: HttpsServer,
    decide: Callable[[str], dict[str, str]],
    registration: Mapping[str, Any],
    return_address: str,
) -> dict[str, Any]:
    """Return the token response of an editor that asks for a scope of other servers too."""
    with httpx2.Client(verify=https_server.ssl_context, base_url=https_server.base_url) as http:
        server = http.get("/.well-known/oauth-authorization-server/mcp").json()
        registered = http.post(server["registration_endpoint"], json=registration).json()
        shared = {
            "client_id": registered["client_id"],
            "redirect_uri": return_address,
            "resource": https_server.mcp_url,
        }
        asked = {
            "response_type": "code",
            "response_mode": "query",
            "scope": f"{' '.join(SCOPES)} offline_access",
            "state": "a state",
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
        }
        answer = decide(f"{server['authorization_endpoint']}?{urlencode(shared | asked)}")
        shown = {"grant_type": "authorization_code", "code": answer["code"]}
        form = shared | shown | {"code_verifier": VERIFIER}
        pair: dict[str, Any] = http.post(server["token_endpoint"], data=form).json()
        return pair


async def work(https_server: HttpsServer, token: str, draft: Mapping[str, Any]) -> Any:
    """List the tools, send a draft with a mistake, and send it again without."""
    [line] = draft["line_items"]
    wrong = {**draft, "line_items": [{**line, "unit_price": "ten euros"}]}
    async with open_client(https_server, token, mode="legacy") as client:
        tools = await client.list_tools()
        refused = await client.call_tool("drafts_create", {**wrong, "idempotency_key": "one"})
        created = await client.call_tool("drafts_create", {**draft, "idempotency_key": "two"})
    return [tool.name for tool in tools.tools], refused, created


def assert_it_can_be_mended(refused: Any, field: str) -> None:
    """Expect the field and what it must be, in the data and in the text, which models read."""
    error = refused.structured_content["error"]
    [problem] = error["problems"]
    assert (error["code"], error["fields"]) == ("validation_failed", [field])
    assert (problem["field"], "minor unit" in problem["problem"]) == (field, True)
    [told] = refused.content
    assert json.loads(told.text) == refused.structured_content


@pytest.mark.parametrize(
    ("registration", "return_address"), EDITORS, ids=["cursor", "vs_code", "vs_code_elsewhere"]
)
def test_an_editor_signs_in_creates_a_draft_and_reads_how_to_mend_one(
    https_server, decide, draft_body, registration, return_address
):
    pair = sign_in(https_server, decide, registration, return_address)
    assert pair["scope"] == " ".join(SCOPES)
    tools, refused, created = anyio.run(work, https_server, pair["access_token"], draft_body)
    assert (len(tools), tools) == (12, MCP_NAMES)
    assert refused.is_error
    assert_it_can_be_mended(refused, "line_items.0.unit_price")
    assert not created.is_error
    assert str(Document.objects.get().id) == created.structured_content["data"]["id"]
    assert Connection.objects.get().client_name == registration["client_name"]
