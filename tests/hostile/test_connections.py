"""Refusals leave the connection as it was: a client goes on over it."""

from contextlib import closing
from http.client import HTTPSConnection
from time import sleep
from urllib.parse import urlsplit

import pytest

from agent_access.bodies import MAX_BODY_BYTES, MAX_DISCARDED_BYTES

# The server is the same whatever its database.
pytestmark = [pytest.mark.sqlite, pytest.mark.usefixtures("sign_in_on")]

# Clients write the head and the body apart, and a server may answer in between.
PAUSE_SECONDS = 0.05

WITHOUT_CREDENTIAL = {"Content-Type": "application/json"}
FOREIGN = {"Origin": "https://elsewhere.example"}


def say(line: HTTPSConnection, path: str, headers: dict[str, str], parts: list[bytes]) -> int:
    """Send a body in parts, each a while after the last; return the status of the answer."""
    line.putrequest("POST", path, skip_host="Host" in headers)
    for name, value in headers.items():
        line.putheader(name, value)
    line.endheaders()
    for part in parts:
        sleep(PAUSE_SECONDS)
        line.send(part)
    answer = line.getresponse()
    answer.read()
    return answer.status


@pytest.fixture
def line(https_server):
    """Yield one connection to the server, which is never opened a second time."""
    port = urlsplit(https_server.base_url).port
    caller = HTTPSConnection("localhost", port, timeout=10, context=https_server.ssl_context)
    with closing(caller):
        caller.connect()
        caller.auto_open = 0
        yield caller


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/mcp", WITHOUT_CREDENTIAL, 401),
        ("/api/v1/drafts", WITHOUT_CREDENTIAL, 401),
        ("/api/v1/drafts", WITHOUT_CREDENTIAL | FOREIGN, 403),
        ("/api/v1/nothing", WITHOUT_CREDENTIAL, 404),
        ("/api/v1/documents", WITHOUT_CREDENTIAL, 405),
        ("/oauth/token", {"Content-Type": "text/plain"}, 415),
        ("/oauth/register", {"Content-Type": "text/plain"}, 415),
        ("/", {"Host": "elsewhere.example"}, 403),
    ],
)
@pytest.mark.parametrize("size", [2, MAX_BODY_BYTES, MAX_DISCARDED_BYTES])
@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_a_refused_client_calls_again_over_its_connection(
    line, path, headers, status, size, framing
):
    body = b"{" + b" " * (size - 2) + b"}"
    parts = [body[: size // 2], body[size // 2 :]]
    framed = {"Content-Length": str(size)}
    if framing == "chunks":
        framed = {"Transfer-Encoding": "chunked"}
        parts = [*(b"%x\r\n%b\r\n" % (len(part), part) for part in parts), b"0\r\n\r\n"]
    for _ in range(2):
        assert say(line, path, headers | framed, parts) == status
