"""However a request comes to a view for agents, it is guarded; and pages are left alone."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.utils.translation import get_language, override

from agent_access.errors import NOT_HTTPS, ORIGIN_SENT, OTHER_HOST
from tests.agents import HOST

# The gate asks no database.
pytestmark = pytest.mark.sqlite

MIDDLEWARE = [
    "agent_access.gate.GateMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]

FAULTS = {
    "another host": ({"Host": "other.example"}, True, OTHER_HOST),
    "another port": ({"Host": f"{HOST}:8443"}, True, OTHER_HOST),
    "plain HTTP": ({}, False, NOT_HTTPS),
    "an Origin": ({"Origin": f"https://{HOST}"}, True, ORIGIN_SENT),
}

HTTP_DOORS = [
    "/agents/api/v1/tools",
    "/again/api/v1/tools",
    "/again/api/v1/nowhere",
    "/en/spoken/api/v1/tools",
    "/de/spoken/api/v1/tools",
    "/own",
]
MCP_DOORS = ["/agents/mcp", "/again/mcp", "/again/mcp/", "/en/spoken/mcp"]
OAUTH_DOORS = ["/agents/oauth/token", "/again/oauth/token", "/en/spoken/oauth/register"]
PAGE_DOORS = [
    "/agents/oauth/authorize",
    "/again/oauth/authorize",
    "/en/spoken/oauth/authorize",
    "/again/approvals",
    "/again/approvals/01999999-0000-7000-8000-000000000000",
]


@pytest.fixture(autouse=True)
def _odd_doors(settings) -> Iterator[None]:
    settings.ROOT_URLCONF = "tests.agent_access.routes.odd"
    settings.MIDDLEWARE = MIDDLEWARE
    settings.AGENT_ACCESS |= {"GUARDS_WHOLE_SITE": False}
    settings.LOGIN_URL = "/"
    with override(get_language()):  # LocaleMiddleware leaves its last language to the thread
        yield


@pytest.fixture
def send(sign_in_on, agent):
    def send_request(
        path: str,
        headers: dict[str, str],
        *,
        secure: bool = True,
        method: str = "GET",
        cookie: str = "",
    ) -> Any:
        sent = {"Host": HOST, "Authorization": f"Bearer {agent.credential}", **headers}
        if cookie:
            sent["Cookie"] = cookie
        return Client().generic(method, path, secure=secure, headers=sent)

    return send_request


def message_of(answer) -> str:
    message: str = json.loads(answer.content)["error"]["message"]
    return message


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("path", HTTP_DOORS)
def test_the_http_tools_are_guarded_at_every_door(send, path, fault):
    headers, secure, message = FAULTS[fault]
    answer = send(path, headers, secure=secure)
    assert (answer.status_code, message_of(answer)) == (403, message)
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("path", MCP_DOORS)
def test_mcp_is_guarded_at_every_door(send, path, fault):
    headers, secure, message = FAULTS[fault]
    answer = send(path, headers, secure=secure, method="POST")
    assert (answer.status_code, message_of(answer)) == (403, message)
    assert json.loads(answer.content)["jsonrpc"] == "2.0"
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("path", OAUTH_DOORS)
def test_the_endpoints_of_sign_in_are_guarded_at_every_door(send, path, fault):
    headers, secure, _ = FAULTS[fault]
    answer = send(path, headers, secure=secure, method="POST")
    assert (answer.status_code, json.loads(answer.content)["error"]) == (403, "invalid_request")
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("fault", [each for each in FAULTS if each != "an Origin"])
@pytest.mark.parametrize("path", PAGE_DOORS)
def test_the_pages_on_which_people_decide_are_guarded_at_every_door(send, path, fault):
    headers, secure, _ = FAULTS[fault]
    answer = send(path, headers, secure=secure)
    assert (answer.status_code, b"<h1>Not allowed</h1>" in answer.content) == (403, True)
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", PAGE_DOORS)
def test_the_pages_on_which_people_decide_take_the_origin_of_a_browsers_form(send, path):
    assert send(path, {"Origin": f"https://{HOST}"}).status_code == 302


@pytest.mark.parametrize("path", [each for each in HTTP_DOORS if "nowhere" not in each])
def test_a_request_without_a_fault_is_let_in_at_every_door(send, path):
    assert send(path, {}).status_code == 200


def test_a_view_of_the_projects_own_sees_no_cookie_of_an_agent(send):
    answer = send("/own", {}, cookie="sessionid=secret")
    assert (answer.status_code, answer.json()) == (200, {"cookies": {}})


def choose_urls(get_response):
    """Choose the urls of a request by its host, as projects with several hosts do."""

    def answer(request: HttpRequest) -> HttpResponse:
        request.urlconf = "tests.agent_access.routes.odd"
        response: HttpResponse = get_response(request)
        return response

    return answer


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("path", ["/agents/api/v1/tools", "/again/api/v1/tools"])
def test_the_urls_of_a_single_request_are_guarded_too(send, settings, path, fault):
    settings.ROOT_URLCONF = "tests.agent_access.routes.elsewhere"
    settings.MIDDLEWARE = [*MIDDLEWARE, f"{__name__}.choose_urls"]
    headers, secure, message = FAULTS[fault]
    answer = send(path, headers, secure=secure)
    assert (answer.status_code, message_of(answer)) == (403, message)
    assert send(path, {}).status_code == 200


@pytest.mark.parametrize("fault", FAULTS)
def test_a_page_is_answered_at_every_host_as_without_the_gate(send, settings, fault):
    headers, secure, _ = FAULTS[fault]
    page = send("/", headers, secure=secure, cookie="sessionid=mine")
    settings.MIDDLEWARE = MIDDLEWARE[1:]
    alone = send("/", headers, secure=secure, cookie="sessionid=mine")
    assert (page.status_code, page.content) == (200, b"A page for mine.")
    assert (alone.content, dict(alone.headers)) == (page.content, dict(page.headers))


@pytest.mark.parametrize("fault", [each for each in FAULTS if each != "an Origin"])
def test_a_project_can_have_its_whole_site_guarded(send, settings, fault):
    settings.AGENT_ACCESS |= {"GUARDS_WHOLE_SITE": True}
    headers, secure, _ = FAULTS[fault]
    answer = send("/", headers, secure=secure)
    assert (answer.status_code, b"<h1>Not allowed</h1>" in answer.content) == (403, True)
    assert send("/", {}).headers["Cache-Control"] == "no-store"
