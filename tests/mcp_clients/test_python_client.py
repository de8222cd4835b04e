"""The official Python client, over HTTPS, from the search for a customer to the issued invoice."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from django.db import connection as database
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from agent_access.switches import turn_access
from tests.interface.issuing import decide
from tests.tool_table import MCP_NAMES

# What the clients say is the same; test_hostile.py and tests/interface ask both databases.
pytestmark = pytest.mark.sqlite

REVISIONS = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


@asynccontextmanager
async def open_client(https_server, credential, *, mode) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {credential}"}
    async with (
        httpx2.AsyncClient(verify=https_server.ssl_context, headers=headers) as http,
        Client(streamable_http_client(https_server.mcp_url, http_client=http), mode=mode) as client,
    ):
        yield client


def approve(prepared: Mapping[str, Any]) -> None:
    try:
        decide(prepared)
    finally:
        database.close()


async def call(client: Client, name: str, **arguments: Any) -> Any:
    result = await client.call_tool(name, arguments)
    assert result.is_error is False, result
    return result.structured_content


async def issue_an_invoice(https_server, credential, *, mode, draft) -> dict[str, Any]:
    async with open_client(https_server, credential, mode=mode) as client:
        found = await call(client, "customers_search", search="acme")
        draft = draft | {"customer_id": found["data"][0]["id"]}
        preview = await call(client, "documents_preview", **draft)
        created = await call(client, "drafts_create", **draft, idempotency_key="create")
        prepared = await call(
            client,
            "documents_issue_prepare",
            id=created["data"]["id"],
            lock_version=created["data"]["lock_version"],
            idempotency_key="prepare",
        )
        approval_id, nonce = prepared["data"]["approval_id"], prepared["data"]["nonce"]
        early = await client.call_tool(
            "documents_issue", {"id": approval_id, "nonce": nonce, "idempotency_key": "early"}
        )
        await anyio.to_thread.run_sync(partial(approve, prepared["data"]))
        approval = await call(client, "approvals_get", id=approval_id)
        issued = await call(
            client, "documents_issue", id=approval_id, nonce=nonce, idempotency_key="issue"
        )
        read = await call(client, "documents_get", id=created["data"]["id"])
    return {
        "grand_total": preview["data"]["grand_total"],
        "prepared": prepared["data"]["status"],
        "too early": early.structured_content["error"]["code"] if early.is_error else None,
        "decided": approval["data"]["status"],
        "number": issued["data"]["number"],
        "read again": issued["data"]["document"] == read["data"],
    }


@pytest.mark.requirement("mcp.address", "issue.mcp_id")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_whole_way_to_an_issued_invoice(https_server, agent, draft_body, mode):
    draft = {name: value for name, value in draft_body.items() if name != "customer_id"}
    way = partial(issue_an_invoice, https_server, agent.credential, mode=mode, draft=draft)
    assert anyio.run(way) == {
        "grand_total": "1686",
        "prepared": "pending",
        "too early": "approval_pending",
        "decided": "approved",
        "number": "INV-2026-0001",
        "read again": True,
    }


@pytest.mark.parametrize("mode", REVISIONS)
def test_the_client_finds_out_revision_server_and_tools(https_server, agent, mode):
    async def ask() -> Any:
        async with open_client(https_server, agent.credential, mode=mode) as client:
            return client.protocol_version, client.server_info, await client.list_tools()

    revision, server, tools = anyio.run(ask)
    # A pinned client asks nothing before its first call.
    name = None if mode == "2026-07-28" else "agent-invoicing"
    assert (revision, server and server.name) == (REVISIONS[mode], name)
    assert [tool.name for tool in tools.tools] == MCP_NAMES


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_unknown_tool_and_a_closed_door_reach_the_client_as_errors(https_server, agent, mode):
    async def ask() -> Any:
        async with open_client(https_server, agent.credential, mode=mode) as client:
            with pytest.raises(MCPError) as unknown:
                await client.call_tool("documents_delete", {})
            await anyio.to_thread.run_sync(close_the_door)
            with pytest.raises(MCPError) as closed:
                await client.call_tool("teams_list", {})
        return unknown.value.error, closed.value.error

    unknown, closed = anyio.run(ask)
    assert (unknown.code, unknown.data["code"]) == (-32602, "not_found")
    assert (closed.code, closed.data["code"]) == (404, "not_found")


def close_the_door() -> None:
    try:
        turn_access(on=False)
    finally:
        database.close()
