"""For the tests of a project that lends tools to agents: an agent, and how tables are flushed."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

from django import test
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from agent_access import conf
from agent_access.addresses import API, MCP, path_of
from agent_access.connections import ConnectionRequest, create_connection
from agent_access.database import triggers
from agent_access.switches import turn_access
from agent_access.tools import Tool, registry

__all__ = ["AgentClient", "FlushMixin", "TransactionTestCase", "flush_past_triggers"]


class AgentClient:
    """Calls the project's tools as an agent does, by Django's test client.

    Agent access is turned on, and a connection is made that acts for the `user` within the scopes:
    all of them unless some are named. It is approved by the `approver`, or by the policy's default
    one. Raises ConnectionNotAllowedError if the policy does not let it be made.
    """

    def __init__(self, user: Any, *scopes: str, approver: Any = None) -> None:
        turn_access(on=True)
        request = ConnectionRequest(
            user=user, scopes=scopes or registry.scopes, days=1, name="Test", approver=approver
        )
        self.connection, self.credential = create_connection(request)
        self._client = test.Client()

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        target: Any = "",
        key: str | None = None,
    ) -> Any:
        """Call a tool over HTTP by its name, such as `notes.write`; return Django's response.

        `target` is the ID of the record that it is about. A write gets an idempotency key of its
        own, unless one is given.
        """
        found = find_tool(tool)
        path = path_of(API) + found.path.replace("{id}", str(target))
        body = (arguments or {}) if found.takes_body else None
        if body is None and arguments:
            path += f"?{urlencode(arguments, doseq=True)}"
        return self.request(found.method, path, body, key=_key(found, key))

    def call_mcp(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        target: Any = "",
        key: str | None = None,
    ) -> Any:
        """Call a tool over MCP, by the same name; the result is in `response.json()["result"]`."""
        found = find_tool(tool)
        sent = dict(arguments or {})
        sent |= {"id": str(target)} if found.takes_target else {}
        sent |= {"idempotency_key": _key(found, key)} if found.writes else {}
        params = {"name": found.mcp_name, "arguments": sent}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.request("POST", path_of(MCP), message)

    def request(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """Send any request with the credential, as the project's proxy would pass it on."""
        headers = {
            "Host": urlsplit(conf.base_url()).netloc,
            "X-Forwarded-Proto": "https",
            "Authorization": f"Bearer {self.credential}",
        }
        headers |= {"Idempotency-Key": key} if key else {}
        data = "" if body is None else json.dumps(body)
        kind = "application/json"
        return self._client.generic(method, path, data, kind, secure=True, headers=headers)


def find_tool(name: str) -> Tool:
    """Return the tool; raise LookupError for a name that none has."""
    tool = registry.find(name)
    if tool is None:
        raise LookupError(f"No tool is called {name}.")
    return tool


def _key(tool: Tool, key: str | None) -> str | None:
    return key or (uuid4().hex if tool.writes else None)


@contextmanager
def flush_past_triggers() -> Iterator[None]:
    """Drop the triggers that keep evidence from being deleted, and install them again after."""
    _for_each_database(triggers.drop)
    yield
    _for_each_database(triggers.install)


def _for_each_database(act: Callable[[BaseDatabaseWrapper, Path], None]) -> None:
    for connection in connections.all():
        for folder in triggers.installed_folders:
            act(connection, folder)


class FlushMixin:
    """Before a TransactionTestCase of any kind: its flush gets past the triggers."""

    def _fixture_teardown(self) -> None:
        with flush_past_triggers():
            super()._fixture_teardown()  # type: ignore[misc]  # Django's, which is private


class TransactionTestCase(FlushMixin, test.TransactionTestCase):
    """Django's own, for tests that leave audit events, receipts or executed approvals."""
