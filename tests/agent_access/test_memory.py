"""What a call took is free at its end, and not when the collector comes."""

import gc
import weakref
from collections.abc import Iterator

import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from agent_access.gate import GateMiddleware, ToolMiddleware
from tests.agents import HOST

# Who holds a request is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite

CALL = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
    b'"params":{"name":"customers_search","arguments":{}}}'
)
UNKNOWN = "ivc_" + "x" * 43


@pytest.fixture
def _no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def make_request(method: str, path: str, body: bytes, *, credential: str) -> HttpRequest:
    headers = {"Host": HOST, "Authorization": f"Bearer {credential}", "Idempotency-Key": "one"}
    factory = RequestFactory()
    return factory.generic(method, path, body, "application/json", secure=True, headers=headers)


@pytest.mark.usefixtures("_no_collector")
@pytest.mark.parametrize(
    ("method", "path", "body", "statuses"),
    [
        ("GET", "/api/v1/customers", b"", [200, 401]),
        ("GET", "/api/v1/nothing", b"", [404, 404]),
        ("POST", "/api/v1/drafts", b"{}", [422, 401]),
        ("POST", "/mcp", CALL, [200, 401]),
        ("POST", "/mcp", b"{", [400, 401]),
    ],
)
def test_an_answer_leaves_nothing_of_its_request(agent, method, path, body, statuses):
    serve = GateMiddleware(ToolMiddleware(lambda _request: pytest.fail("this is no page")))
    found, left = [], []
    for credential in (agent.credential, UNKNOWN):
        request = make_request(method, path, body, credential=credential)
        left.append(weakref.ref(request))
        found.append(serve(request).status_code)
        del request
    assert found == statuses
    assert [each() for each in left] == [None, None]
