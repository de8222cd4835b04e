"""A request with several mistakes gets the answer of the first check that it fails."""

import json
from itertools import combinations
from typing import Any
from uuid import uuid4

import pytest

from agent_access.models import AccessSettings, Connection
from tests.interface.calls import Call
from tests.interface.http_requests import request_of
from tests.mcp_agent import PATH, McpAgent, read_answer
from tests.snapshots import take_snapshot

# The order is that of one process; test_refusals.py asks both databases for each check.
pytestmark = pytest.mark.sqlite


class Mistakes:
    """Builds one update of a draft with any of the mistakes that a request can make."""

    def __init__(self, *, agent: Any, call: Call, connection: Connection, settings: Any) -> None:
        self.agent = agent
        self.connection = connection
        self.settings = settings
        self.fields = {**call.arguments}
        self.changes: dict[str, Any] = {}
        self.target = str(call.id)
        self.key = "new"

    def send(self) -> Any:
        call = Call(tool="drafts.update", arguments=self.fields, id=self.target, key=self.key)
        over_mcp = isinstance(self.agent, McpAgent)
        request = self._message_of(call) if over_mcp else request_of(call)
        headers = request["headers"] | self.changes.pop("headers", {})
        answer = self.agent.request(**(request | self.changes | {"headers": headers}))
        return read_answer(answer, call.tool) if over_mcp else answer

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

    def add_header(self, name: str, value: str) -> None:
        self.changes.setdefault("headers", {})[name] = value

    def spend(self, limit: str) -> None:
        self.settings.AGENT_ACCESS = {**self.settings.AGENT_ACCESS, limit: 1}
        self.agent.call("tools.list")

    def come_from_outside(self) -> None:
        self.add_header("Origin", "https://other.example")

    def meet_access_off(self) -> None:
        AccessSettings.objects.update(access_on=False)

    def call_an_unknown_path(self) -> None:
        root = PATH if isinstance(self.agent, McpAgent) else "/api/v1"
        self.changes["path"] = f"{root}/nothing"

    def call_with_a_wrong_method(self) -> None:
        self.changes["method"] = "PATCH"

    def exceed_the_limit_of_the_address(self) -> None:
        self.spend("LIMIT_PER_ADDRESS")

    def send_no_credential(self) -> None:
        self.add_header("Authorization", "Bearer wrong")

    def exceed_the_limit_of_the_connection(self) -> None:
        self.spend("LIMIT_PER_CONNECTION")

    def send_a_wrong_content_type(self) -> None:
        self.changes["content_type"] = "text/plain"

    def send_a_large_body(self) -> None:
        self.changes["body"] = b"{" * (256 * 1024 + 1)

    def send_an_unreadable_body(self) -> None:
        self.changes["body"] = b"{"

    def meet_a_module_that_is_off(self) -> None:
        AccessSettings.objects.update(modules_off=["invoices"])

    def miss_the_grant(self) -> None:
        Connection.objects.update(grants=["people:read"])

    def miss_the_permission(self) -> None:
        self.connection.user.user_permissions.filter(codename="manage").delete()

    def meet_demo_mode(self) -> None:
        self.settings.DEMO_MODE = True

    def send_an_unknown_field(self) -> None:
        self.fields["surprise"] = 1

    def use_the_key_of_another_call(self) -> None:
        self.key = "used"

    def name_a_missing_record(self) -> None:
        self.target = str(uuid4())

    def name_a_missing_customer(self) -> None:
        self.fields["customer_id"] = str(uuid4())

    def send_a_stale_version(self) -> None:
        self.fields["lock_version"] = 99


# In the order of the interface, with the status and the fields, the limit or the code.
CHECKS = {
    Mistakes.come_from_outside: (403, "forbidden"),
    Mistakes.meet_access_off: (404, "not_found"),
    Mistakes.call_an_unknown_path: (404, "not_found"),
    Mistakes.call_with_a_wrong_method: (405, "method_not_allowed"),
    Mistakes.exceed_the_limit_of_the_address: (429, "address"),
    Mistakes.send_no_credential: (401, "unauthenticated"),
    Mistakes.exceed_the_limit_of_the_connection: (429, "connection"),
    Mistakes.send_a_wrong_content_type: (415, "json_required"),
    Mistakes.send_a_large_body: (413, "payload_too_large"),
    Mistakes.send_an_unreadable_body: (422, []),
    Mistakes.meet_a_module_that_is_off: (404, "not_found"),
    Mistakes.miss_the_grant: (403, "forbidden"),
    Mistakes.miss_the_permission: (403, "forbidden"),
    Mistakes.meet_demo_mode: (403, "forbidden"),
    Mistakes.send_an_unknown_field: (422, ["surprise"]),
    Mistakes.use_the_key_of_another_call: (409, ["Idempotency-Key"]),
    Mistakes.name_a_missing_record: (404, "not_found"),
    Mistakes.name_a_missing_customer: (422, ["customer_id"]),
    Mistakes.send_a_stale_version: (409, ["lock_version"]),
}
ORDER = list(CHECKS)
PAIRS = list(combinations(ORDER, 2))
OVER_MCP: dict[Any, tuple[int, Any]] = {Mistakes.send_an_unreadable_body: (400, [])}


@pytest.fixture
def mistakes(agent: Any, connection: Connection, calls: dict[str, Call], settings: Any) -> Mistakes:
    agent.call("drafts.create", calls["drafts.create"].arguments, key="used")
    return Mistakes(
        agent=agent, call=calls["drafts.update"], connection=connection, settings=settings
    )


def assert_refused_by(check: Any, mistakes: Mistakes) -> None:
    answer = mistakes.send()
    detail = answer.error.get("fields", answer.code)
    if answer.status == 429:  # the last limit that was counted
        detail = answer.headers["RateLimit"].rpartition(", ")[2].split('"')[1]
    expected = CHECKS | (OVER_MCP if isinstance(mistakes.agent, McpAgent) else {})
    assert (answer.status, detail) == expected[check]


@pytest.mark.parametrize("check", ORDER, ids=[check.__name__ for check in ORDER])
@pytest.mark.usefixtures("_clock_stands_still")
def test_a_check_answers_before_all_that_come_later(mistakes, check):
    for mistake in reversed(ORDER[ORDER.index(check) :]):
        mistake(mistakes)
    before = take_snapshot()

    assert_refused_by(check, mistakes)
    assert take_snapshot() == before


@pytest.mark.parametrize(
    ("earlier", "later"), PAIRS, ids=[f"{one.__name__}-{other.__name__}" for one, other in PAIRS]
)
@pytest.mark.usefixtures("_clock_stands_still")
def test_of_two_mistakes_the_earlier_check_answers(mistakes, earlier, later):
    later(mistakes)
    earlier(mistakes)
    assert_refused_by(earlier, mistakes)


@pytest.mark.parametrize("check", ORDER, ids=[check.__name__ for check in ORDER])
@pytest.mark.usefixtures("_clock_stands_still")
def test_each_check_refuses_by_itself(mistakes, check):
    check(mistakes)
    before = take_snapshot()

    assert_refused_by(check, mistakes)
    assert take_snapshot() == before


def test_without_a_mistake_the_call_succeeds(mistakes):
    assert mistakes.send().status == 200
