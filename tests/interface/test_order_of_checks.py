"""A request with several mistakes gets the answer of the first check that it fails."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest

from agent_access.models import AccessSettings, Connection
from invoicing.access import Permission
from tests.factories import withdraw
from tests.interface.calls import Call
from tests.interface.http_requests import request_of
from tests.interface.refusals import nothing_changes
from tests.mcp_agent import PATH, McpAgent, read_answer

# The order is that of one process; test_refusals.py asks both databases for each check.
pytestmark = [pytest.mark.sqlite, pytest.mark.usefixtures("_clock_stands_still")]


class Attempt:
    """One update of a draft, which may be spoilt by any of the mistakes that a request can make."""

    def __init__(self, *, agent: Any, call: Call, connection: Connection, settings: Any) -> None:
        self.agent = agent
        self.connection = connection
        self.settings = settings
        self.is_mcp = isinstance(agent, McpAgent)
        self.fields = {**call.arguments}
        self.call: dict[str, Any] = {"tool": "drafts.update", "id": str(call.id), "key": "new"}
        self.headers: dict[str, str] = {}
        self.request: dict[str, Any] = {}

    def send(self) -> Any:
        call = Call(arguments=self.fields, **self.call)
        request = self._message_of(call) if self.is_mcp else request_of(call)
        headers = request["headers"] | self.headers
        answer = self.agent.request(**(request | self.request | {"headers": headers}))
        return read_answer(answer, call.tool) if self.is_mcp else answer

    def _message_of(self, call: Call) -> dict[str, Any]:
        arguments = {"id": call.id, **call.arguments, "idempotency_key": call.key}
        params = self.agent.with_meta({"name": "drafts_update", "arguments": arguments})
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return {
            "method": "POST",
            "path": PATH,
            "headers": self.agent.headers_of(message),
            "body": json.dumps(message).encode(),
        }

    def spend(self, limit: str) -> None:
        self.settings.AGENT_ACCESS = {**self.settings.AGENT_ACCESS, limit: 1}
        self.agent.call("tools.list")

    def leave_the_paths(self) -> None:
        self.request["path"] = PATH + "/nothing" if self.is_mcp else "/api/v1/nothing"

    def meet_demo_mode(self) -> None:
        self.settings.DEMO_MODE = True


TOO_LARGE = b"{" * (256 * 1024 + 1)

# In the order of the interface: how a request fails, its status, and the fields, limit or code.
CHECKS: dict[str, tuple[Callable[[Attempt], object], int, Any]] = {
    "outside": (lambda it: it.headers.update(Origin="https://other.example"), 403, "forbidden"),
    "access off": (lambda _: AccessSettings.objects.update(access_on=False), 404, "not_found"),
    "unknown path": (Attempt.leave_the_paths, 404, "not_found"),
    "method": (lambda it: it.request.update(method="PATCH"), 405, "method_not_allowed"),
    "limit of address": (lambda it: it.spend("LIMIT_PER_ADDRESS"), 429, "address"),
    "credential": (lambda it: it.headers.update(Authorization="Bearer x"), 401, "unauthenticated"),
    "limit of connection": (lambda it: it.spend("LIMIT_PER_CONNECTION"), 429, "connection"),
    "content type": (lambda it: it.request.update(content_type="text/x"), 415, "json_required"),
    "large body": (lambda it: it.request.update(body=TOO_LARGE), 413, "payload_too_large"),
    "unreadable body": (lambda it: it.request.update(body=b"{"), 422, []),
    "module": (lambda _: AccessSettings.objects.update(modules_off=["invoices"]), 404, "not_found"),
    "grant": (lambda _: Connection.objects.update(grants=["people:read"]), 403, "forbidden"),
    "permission": (lambda it: withdraw(it.connection.user, Permission.MANAGE), 403, "forbidden"),
    "demo mode": (Attempt.meet_demo_mode, 403, "forbidden"),
    "unknown field": (lambda it: it.fields.update(surprise=1), 422, ["surprise"]),
    "key": (lambda it: it.call.update(key="used"), 409, ["Idempotency-Key"]),
    "record": (lambda it: it.call.update(id=str(uuid4())), 404, "not_found"),
    "customer": (lambda it: it.fields.update(customer_id=str(uuid4())), 422, ["customer_id"]),
    "stale version": (lambda it: it.fields.update(lock_version=99), 409, ["lock_version"]),
}
ORDER = list(CHECKS)


@pytest.fixture
def attempt(agent: Any, connection: Connection, calls: dict[str, Call], settings: Any) -> Attempt:
    agent.call("drafts.create", calls["drafts.create"].arguments, key="used")
    return Attempt(
        agent=agent, call=calls["drafts.update"], connection=connection, settings=settings
    )


def spoil(attempt: Attempt, *checks: str) -> None:
    """Make the mistakes that these checks find, the last of them first."""
    for check in reversed(checks):
        CHECKS[check][0](attempt)


def assert_refused_by(check: str, attempt: Attempt) -> None:
    answer = attempt.send()
    detail = answer.error.get("fields", answer.code)
    if answer.status == 429:  # the last limit that was counted
        detail = answer.headers["RateLimit"].rpartition(", ")[2].split('"')[1]
    _, status, expected = CHECKS[check]
    is_protocol_error = attempt.is_mcp and check == "unreadable body"
    assert (answer.status, detail) == (400 if is_protocol_error else status, expected)


@pytest.mark.parametrize("check", ORDER)
def test_a_check_answers_before_all_that_come_later(attempt, check):
    spoil(attempt, *ORDER[ORDER.index(check) :])
    with nothing_changes():
        assert_refused_by(check, attempt)


# Of any others the earlier one answers before still more mistakes, above.
@pytest.mark.parametrize(("earlier", "later"), list(pairwise(ORDER)))
def test_of_two_mistakes_the_earlier_check_answers(attempt, earlier, later):
    spoil(attempt, earlier, later)
    assert_refused_by(earlier, attempt)


@pytest.mark.parametrize("check", ORDER)
def test_each_check_refuses_by_itself(attempt, check):
    spoil(attempt, check)
    with nothing_changes():
        assert_refused_by(check, attempt)


def test_without_a_mistake_the_call_succeeds(attempt):
    assert attempt.send().status == 200
