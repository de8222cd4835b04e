"""The official Python client signs in by itself; only the owner's decision is played."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2
import orjson
import pytest
from django.db import connection as database
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from typing_extensions import override

from agent_access.models import Connection
from agent_access.oauth import client_documents
from agent_access.oauth.fetching import Document
from agent_access.oauth.models import AccessRequest, AccessToken
from tests.https_server import HttpsServer
from tests.oauth.programs import Browser, parameters_of
from tests.tool_table import MCP_NAMES, SCOPES

# What the clients see is the same on both databases; tests/oauth asks both.
pytestmark = pytest.mark.sqlite

RETURN_ADDRESS = "http://127.0.0.1:33418/callback"
DOCUMENT = "https://client.example/client.json"


class Memory(TokenStorage):
    """Where a client keeps what it was given."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    @override
    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    @override
    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    @override
    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    @override
    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def make_provider(
    https_server: HttpsServer, decide: Callable[[str], dict[str, str]], **more: Any
) -> OAuthClientProvider:
    answers: list[dict[str, str]] = []

    async def open_page(url: str) -> None:
        answers.append(await anyio.to_thread.run_sync(decide, url))

    async def come_back() -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(answers[-1])

    metadata = OAuthClientMetadata.model_validate(
        {"client_name": "Ledger agent", "redirect_uris": [RETURN_ADDRESS]}
    )
    return OAuthClientProvider(
        https_server.mcp_url, metadata, Memory(), open_page, come_back, **more
    )


@asynccontextmanager
async def open_client(https_server, provider) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(verify=https_server.ssl_context, auth=provider) as http,
        Client(streamable_http_client(https_server.mcp_url, http_client=http)) as client,
    ):
        yield client


def test_a_client_registers_itself_signs_in_and_calls(https_server, decide, customer):
    async def use() -> Any:
        async with open_client(https_server, make_provider(https_server, decide)) as client:
            tools = await client.list_tools()
            found = await client.call_tool("customers_search", {"search": "acme"})
            return [tool.name for tool in tools.tools], found.structured_content

    tools, found = anyio.run(use)
    assert tools == MCP_NAMES
    assert [each["name"] for each in found["data"]] == ["Acme Ltd"]
    held = Connection.objects.get()
    assert (held.client_name, held.client_host) == ("Ledger agent", "127.0.0.1")
    assert held.grants == list(SCOPES)


def test_a_client_known_by_its_document_signs_in(https_server, decide, monkeypatch):
    document = {
        "client_id": DOCUMENT,
        "client_name": "Ledger agent",
        "redirect_uris": [RETURN_ADDRESS],
    }
    fetched = Document(orjson.dumps(document), "")
    monkeypatch.setattr(client_documents, "fetch", {DOCUMENT: fetched}.__getitem__)

    async def use() -> None:
        provider = make_provider(https_server, decide, client_metadata_url=DOCUMENT)
        async with open_client(https_server, provider) as client:
            await client.list_tools()

    anyio.run(use)
    held = Connection.objects.get()
    assert (held.client_id, held.client_host) == (DOCUMENT, "client.example")


def test_a_client_of_a_person_who_asks_the_owner_signs_in(
    https_server, sign_in_on, owner, delegate, customer
):
    def ask(url: str) -> dict[str, str]:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}"
        mine, owners = (Browser(each, host=parts.netloc) for each in (delegate, owner))
        terms = {"scopes": ["customers:read"], "expires_in_days": 1}
        try:
            mine.send(path, {"decision": "ask", **terms})
            page = f"/oauth/requests/{AccessRequest.objects.get().pk}"
            owners.send(page, {"decision": "allowed", **terms})
            return parameters_of(mine.send(path, {}))
        finally:
            database.close()

    async def use() -> Any:
        async with open_client(https_server, make_provider(https_server, ask)) as client:
            return (await client.call_tool("customers_search", {})).structured_content

    assert [each["name"] for each in anyio.run(use)["data"]] == ["Acme Ltd"]
    held = Connection.objects.get()
    assert (held.user, held.owner_id, held.grants) == (delegate, owner.pk, ["customers:read"])


def test_a_client_refreshes_by_itself(https_server, decide):
    async def use() -> None:
        provider = make_provider(https_server, decide)
        async with open_client(https_server, provider) as client:
            await client.list_tools()
            provider.context.token_expiry_time = 1.0
            await client.list_tools()

    anyio.run(use)
    assert Connection.objects.get().revoked_at is None
    assert AccessToken.objects.count() == 2


def test_a_client_asks_for_a_scope_when_it_needs_it(https_server, decide):
    asked: list[str] = []

    def lend_one_and_then_all(url: str) -> dict[str, str]:
        asked.append(url)
        lent = ["customers:read", "invoices:read"]
        answer: dict[str, str] = decide(url, lent[: len(asked)])
        return answer

    async def use() -> Any:
        provider = make_provider(https_server, lend_one_and_then_all)
        async with open_client(https_server, provider) as client:
            few = await client.list_tools()
            documents = await client.call_tool("documents_list", {})
            return [tool.name for tool in few.tools], documents.is_error

    assert anyio.run(use) == (["customers_search"], False)
    assert len(asked) == 2
    grants = Connection.objects.order_by("id").values_list("grants", flat=True)
    assert list(grants) == [["customers:read"], ["customers:read", "invoices:read"]]
