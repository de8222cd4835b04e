"""The outermost layer: which requests enter, and whose address they count for."""

import json
from uuid import UUID

import pytest
from django.test import RequestFactory

from agent_access.credentials import make_credential
from agent_access.errors import NOT_HTTPS, ORIGIN_SENT, OTHER_HOST
from agent_access.gate import TOOL_POLICY, client_address
from tests.agents import HOST, HttpAgent
from tests.mcp_agent import McpAgent

# The gate asks no database.
pytestmark = pytest.mark.sqlite

CAUSES = (NOT_HTTPS, OTHER_HOST, ORIGIN_SENT)

PEER = "192.0.2.9"


@pytest.fixture
def anybody(access_on) -> HttpAgent:
    """A program without a credential: past the gate it gets 401."""
    return HttpAgent(None)


def assert_refused(answer) -> None:
    assert (answer.status, answer.code) == (403, "forbidden")
    assert answer.body == {"error": {"code": "forbidden", "message": answer.error["message"]}}
    assert answer.error["message"] in CAUSES
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert UUID(answer.headers["X-Request-Id"]).version == 7


OTHER_PORTS = [f"{HOST}:8443", f"{HOST}:80", f"{HOST}:443:443", f"{HOST}:0443"]
OTHER_HOSTS = ["other.example", f"{HOST}.", f"user@{HOST}", f"{HOST}/", f"{HOST},other.example"]
NO_HOSTS = ["", " ", "\x00", "invoices.exam\u0142ple"]


@pytest.mark.parametrize("host", OTHER_PORTS + OTHER_HOSTS + NO_HOSTS)
def test_another_host_or_port_is_forbidden(anybody, host):
    headers = {"Host": host, "X-Forwarded-Host": HOST}
    assert_refused(anybody.request("GET", "/api/v1/tools", headers=headers))


@pytest.mark.parametrize(
    ("base_url", "host", "status"),
    [
        ("https://invoices.example", "INVOICES.Example:443", 401),
        ("https://invoices.example:8443", "invoices.example:8443", 401),
        ("https://invoices.example:8443", "invoices.example", 403),
        ("https://invoices.example:8461", "invoices.example:8461:443", 403),
        ("https://[2001:db8::1]", "[2001:DB8::1]:443", 401),
        ("https://[2001:db8::1]:8443", "[2001:db8::1]", 403),
        ("https://[2001:db8::1]", "2001:db8::1", 403),
    ],
)
def test_ports_and_ipv6_hosts_are_compared_with_the_base_url(
    anybody, settings, base_url, host, status
):
    settings.AGENT_ACCESS |= {"BASE_URL": base_url}
    assert anybody.request("GET", "/api/v1/tools", headers={"Host": host}).status == status


def test_plain_http_is_forbidden(anybody):
    environ = {"wsgi.url_scheme": "http", "HTTP_X_FORWARDED_PROTO": "https"}
    assert_refused(anybody.request("GET", "/api/v1/tools", **environ))


@pytest.mark.parametrize("origin", ["https://invoices.example", "null", ""])
@pytest.mark.parametrize("path", ["/api/v1", "/api/v1/tools", "/api/v1/nowhere"])
def test_any_origin_header_is_forbidden_at_the_tools(anybody, origin, path):
    assert_refused(anybody.request("GET", path, headers={"Origin": origin}))


@pytest.mark.parametrize("path", ["/api/v1/tools", "/mcp", "/oauth/token", "/documents"])
def test_nothing_that_the_gate_refuses_may_be_framed_or_load_anything(anybody, path):
    answer = anybody.request("GET", path, headers={"Host": "other.example"})
    assert answer.status == 403
    policy = answer.headers["Content-Security-Policy"]
    assert policy == "default-src 'none'; frame-ancestors 'none'"


def test_a_page_at_a_wrong_address_gets_a_plain_error_page(anybody):
    answer = anybody.request("GET", "/documents", headers={"Host": "other.example"})
    assert answer.status == 403
    assert answer.headers["Content-Type"].startswith("text/html")
    assert answer.headers["Cache-Control"] == "no-store"
    assert b"<h1>Not allowed</h1>" in answer.content
    address = b'<a href="https://invoices.example">https://invoices.example</a>'
    assert b"<p>This application answers only at %s.</p>" % address in answer.content


LONG = "x." * 51
CREDENTIAL = make_credential()
NO_SCHEME = "X-Forwarded-Proto is '', not https"


@pytest.mark.parametrize(
    ("proxies", "headers", "fault"),
    [
        (1, {"Host": "10.0.0.7:8000"}, "Host is '10.0.0.7:8000', not invoices.example"),
        (1, {"X-Forwarded-Proto": "http"}, "X-Forwarded-Proto is 'http', not https"),
        (1, {"Host": "x", "X-Forwarded-Proto": ""}, f"Host is 'x', not {HOST}; {NO_SCHEME}"),
        (1, {"X-Forwarded-Proto": None}, "X-Forwarded-Proto is missing, not https"),
        (1, {"Host": "x\n\u0142"}, r"Host is 'x\n\u0142', not invoices.example"),
        (1, {"Host": LONG}, f"Host is '{LONG[:100]}', not invoices.example"),
        (1, {"Host": f"{CREDENTIAL}.a"}, "Host is '....a', not invoices.example"),
        (1, {"Origin": "null"}, "it has an Origin header"),
        (0, {"X-Forwarded-Proto": "https"}, "it came over http, and TRUSTED_PROXIES is 0"),
    ],
)
def test_the_log_says_what_the_gate_refused_and_the_answer_does_not(
    anybody, settings, caplog, proxies, headers, fault
):
    settings.AGENT_ACCESS |= {"TRUSTED_PROXIES": proxies}
    sent = {"X-Forwarded-Proto": "https", **headers}
    sent = {name: value for name, value in sent.items() if value is not None}
    assert_refused(
        anybody.request("GET", "/api/v1/tools", headers=sent, **{"wsgi.url_scheme": "http"})
    )
    [line] = [each for each in caplog.records if each.name == "agent_access.gate"]
    assert (line.levelname, line.getMessage()) == ("WARNING", f"A request was refused: {fault}.")


@pytest.mark.parametrize("path", ["/", "/documents", "/apix/v1/tools"])
def test_an_origin_header_is_no_reason_to_refuse_a_page(anybody, path):
    assert anybody.request("GET", path, headers={"Origin": "null"}).status != 403


SEEN_AS_HTTPS: list[tuple[int, str | None]] = [(0, "http"), (1, "https"), (2, "https, https")]
SEEN_OTHERWISE = [(1, None), (1, "http"), (2, "https,http"), (2, "http, https"), (2, "https,")]


@pytest.mark.parametrize(("proxies", "proto"), SEEN_AS_HTTPS + SEEN_OTHERWISE)
def test_behind_proxies_the_scheme_is_what_every_proxy_saw(anybody, settings, proxies, proto):
    settings.AGENT_ACCESS |= {"TRUSTED_PROXIES": proxies}
    headers = {} if proto is None else {"X-Forwarded-Proto": proto}
    status = 401 if (proxies, proto) in SEEN_AS_HTTPS else 403
    assert anybody.request("GET", "/api/v1/tools", headers=headers).status == status


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "198.51.100.1", PEER),
        (1, None, PEER),
        (1, "203.0.113.66, 198.51.100.1", "198.51.100.1"),
        (1, "198.51.100.1:4711", PEER),
        (1, "198.51.100.1, ", PEER),
        (1, "2001:DB8:0::1", "2001:db8::1"),
        (1, "::ffff:198.51.100.1", "198.51.100.1"),
        (1, "fe80::1%" + "x" * 60, "fe80::1"),
        (2, "198.51.100.1", PEER),
        (2, "203.0.113.66, 198.51.100.1, 10.0.0.1", "198.51.100.1"),
    ],
)
def test_the_client_is_the_peer_or_what_the_trusted_proxies_saw(
    settings, proxies, forwarded, address
):
    settings.AGENT_ACCESS |= {"TRUSTED_PROXIES": proxies}
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    request = RequestFactory().get("/", headers=headers, REMOTE_ADDR=PEER)
    assert client_address(request) == address


@pytest.mark.parametrize(
    ("peer", "address"),
    [("", "unknown"), ("a socket", "unknown"), ("::ffff:192.0.2.9", PEER), ("::1", "::1")],
)
def test_a_peer_without_an_address_has_a_name_of_its_own(peer, address):
    assert client_address(RequestFactory().get("/", REMOTE_ADDR=peer)) == address


def test_a_request_id_is_never_taken_from_the_client(agent):
    sent = "0190f1f0-0000-7000-8000-000000000000"
    headers = {"X-Request-Id": sent, "X-Correlation-Id": sent}
    answers = [agent.request("GET", "/api/v1/tools", headers=headers) for _ in range(2)]
    identifiers = {answer.headers["X-Request-Id"] for answer in answers}
    assert len(identifiers - {sent}) == 2
    assert sent not in json.dumps([answer.body for answer in answers])


@pytest.mark.parametrize(
    ("path", "status"),
    [("/api/v1/tools", 200), ("/api/v1/nowhere", 404), ("/mcp", 405), ("/sign-in", 200)],
)
def test_what_is_for_pages_sees_nothing_of_the_tools(agent, path, status):
    answer = agent.request("GET", path)
    is_page = path == "/sign-in"
    assert answer.status == status
    assert (answer.headers["Content-Security-Policy"] != TOOL_POLICY) is is_page
    assert ("X-Frame-Options" in answer.headers) is is_page
    assert answer.headers["Referrer-Policy"] == "same-origin"


# Without ToolMiddleware all of it stands before the tools.
MIDDLEWARE_OF_ANOTHER_PROJECT = [
    "agent_access.gate.GateMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
]


@pytest.mark.parametrize("agent_class", [HttpAgent, McpAgent])
def test_the_middleware_of_another_project_keeps_no_agent_out(agent, draft_body, settings):
    settings.MIDDLEWARE = MIDDLEWARE_OF_ANOTHER_PROJECT
    agent._client.handler.enforce_csrf_checks = True
    assert agent.call("drafts.create", draft_body, key="one").status == 201
    assert agent.request("GET", "/api/v1/nowhere").status == 404


@pytest.mark.parametrize("path", ["/api/v1/tools", "/api/v1/nowhere", "/mcp"])
def test_the_middleware_of_another_project_sees_no_cookie_at_the_tools(agent, settings, path):
    """Django's own answers one that is malformed with a new one."""
    settings.MIDDLEWARE = MIDDLEWARE_OF_ANOTHER_PROJECT
    malformed = f"{settings.CSRF_COOKIE_NAME}=malformed"
    answer = agent.request("GET", path, headers={"Cookie": malformed})
    assert "Set-Cookie" not in answer.headers
