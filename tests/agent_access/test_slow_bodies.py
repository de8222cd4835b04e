"""What is withdrawn while a body still comes is missing when it has come."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from typing_extensions import override

from agent_access import callers, execution
from agent_access.execution import FRESH_SECONDS
from agent_access.models import AccessSettings
from invoicing.models import Document
from tests.mcp_agent import LEGACY, McpAgent


class SlowBody(io.BytesIO):
    """Lets something happen before the first byte comes."""

    def __init__(self, body: bytes, meanwhile) -> None:
        super().__init__(body)
        self.meanwhile = meanwhile

    @override
    def read(self, *args: Any) -> bytes:
        self.meanwhile()
        return super().read(*args)


@pytest.fixture
def send_slowly(monkeypatch):
    """Let something happen, and time pass, before a body comes."""
    clock = [1000.0]
    for module in (callers, execution):
        monkeypatch.setattr(module, "monotonic", lambda: clock[0])

    def body_after(body: bytes, happens: Callable[[], object]) -> dict[str, Any]:
        def happen_and_wait() -> None:
            happens()
            clock[0] += FRESH_SECONDS + 0.1

        return {"wsgi.input": SlowBody(body, happen_and_wait)}

    return body_after


@pytest.mark.parametrize(
    ("withdraw", "code"),
    [
        (lambda person: person.user_permissions.clear(), "forbidden"),
        (lambda _: AccessSettings.objects.update(modules_off=["invoices"]), "not_found"),
    ],
    ids=["permission", "module"],
)
@pytest.mark.parametrize("path", ["/drafts", "/documents/preview"])
def test_what_is_withdrawn_meanwhile_is_missing(  # noqa: PLR0917  fixtures
    agent, delegate, draft_body, send_slowly, withdraw, code, path
):
    body = json.dumps(draft_body).encode()
    headers = {"Idempotency-Key": "one"} if path == "/drafts" else {}
    slowly = send_slowly(body, lambda: withdraw(delegate))
    answer = agent.request("POST", f"/api/v1{path}", body=body, headers=headers, **slowly)
    assert answer.code == code
    assert not Document.objects.exists()


def test_no_tool_is_listed_of_a_module_that_was_turned_off_meanwhile(agent, send_slowly):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    mcp = McpAgent(agent.credential, version=LEGACY[-1])

    def names(**environ: Any) -> set[str]:
        headers = {"MCP-Protocol-Version": LEGACY[-1]}
        answer = mcp.request("POST", "/mcp", body=body, headers=headers, **environ)
        return {tool["name"] for tool in answer.body["result"]["tools"]}

    assert {"drafts_create", "people_list"} < names()
    off = AccessSettings.objects.update
    seen = names(**send_slowly(body, lambda: off(modules_off=["invoices"])))
    assert (seen & {"drafts_create", "people_list"}) == {"people_list"}
