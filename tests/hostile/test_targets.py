"""Request lines as no library writes them, over a socket to the server as it runs in production."""

import socket
from contextlib import closing
from http.client import HTTPResponse
from urllib.parse import urlsplit

import pytest

from tests.agents import BAD_CREDENTIAL
from tests.hostile.target import CODES

# The server is the same whatever its database.
pytestmark = [pytest.mark.sqlite, pytest.mark.usefixtures("sign_in_on")]

OWN = b"localhost:%d"
TOOLS = b"/api/v1/tools"


@pytest.fixture
def say(https_server):
    """Return a function that sends one request line with some Host headers."""
    port = urlsplit(https_server.base_url).port

    def send(method: bytes, target: bytes, *hosts: bytes) -> tuple[int, HTTPResponse, bytes]:
        lines = [b"%b %b HTTP/1.1" % (method, target), *(b"Host: " + host for host in hosts)]
        lines += [b"Authorization: Bearer none", b"Content-Length: 0", b"Connection: close"]
        head = b"\r\n".join([*lines, b"", b""]).replace(OWN, OWN % port)
        plain = socket.create_connection(("localhost", port), timeout=10)
        with closing(
            https_server.ssl_context.wrap_socket(plain, server_hostname="localhost")
        ) as to:
            to.sendall(head)
            answer = HTTPResponse(to)
            answer.begin()
            return answer.status, answer, answer.read()

    return send


def assert_enters(answered) -> None:
    """The request is past the gate, where its credential is refused."""
    status, answer, _ = answered
    assert (status, answer.headers["WWW-Authenticate"]) == (401, BAD_CREDENTIAL)


@pytest.mark.parametrize("target", [TOOLS, b"https://" + OWN + TOOLS, TOOLS + b"#fragment"])
def test_a_target_at_the_own_address_enters(say, target):
    assert_enters(say(b"GET", target, OWN))


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        [b""],
        [OWN, OWN],
        [OWN, b"other.example"],
        [b"other.example", OWN],
        [OWN + b",other.example"],
        [b"user@" + OWN],
        [b"other.example"],
    ],
    ids=str,
)
def test_no_host_two_hosts_and_another_host_are_forbidden(say, hosts):
    status, answer, body = say(b"GET", TOOLS, *hosts)
    assert (status, answer.headers["Content-Type"]) == (403, "application/json")
    assert CODES[403].encode() in body


@pytest.mark.parametrize("target", [b"https://other.example" + TOOLS, b"https://other.example"])
def test_the_host_of_an_absolute_target_counts_where_it_is_the_only_one(say, target):
    assert say(b"GET", target)[0] == 403


@pytest.mark.parametrize("scheme", [b"http", b"ftp"])
@pytest.mark.parametrize("host", [OWN, b"other.example"])
def test_an_absolute_target_beside_a_host_header_is_hidden_by_the_server(say, scheme, host):
    # A limit that docs/operations.md reports, and a proxy removes: granian tells nobody the target.
    # When this fails, granian tells it: then the gate must compare it.
    assert_enters(say(b"GET", scheme + b"://" + host + TOOLS, OWN))


@pytest.mark.parametrize("method", [b"GET", b"OPTIONS", b"CONNECT"])
@pytest.mark.parametrize("target", [b"*", OWN, b"other.example:443"])
def test_a_target_without_a_path_is_forbidden(say, method, target):
    status, answer, body = say(method, target, OWN)
    assert (status, answer.headers["Location"]) == (403, None)
    assert b"<h1>Not allowed</h1>" in body


@pytest.mark.parametrize(
    ("method", "target", "allowed"),
    [
        (b"get", TOOLS, "GET"),
        (b"Get", TOOLS, "GET"),
        (b"post", b"/api/v1/drafts", "POST"),
        (b"Put", b"/api/v1/drafts/0190f1f0-0000-7000-8000-000000000000", "PUT"),
        (b"Post", b"/mcp", "POST"),
        (b"post", b"/oauth/token", "POST"),
        (b"get", b"/.well-known/oauth-authorization-server", "GET"),
        (b"get", b"/healthz", "GET, HEAD"),
    ],
)
def test_a_method_in_another_case_is_another_method(say, method, target, allowed):
    status, answer, _ = say(method, target, OWN)
    assert (status, answer.headers["Allow"]) == (405, allowed)
