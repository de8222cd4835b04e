"""The parts of the HTTP tools: none follows a project's settings, and other views can use them."""

import json
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.test import RequestFactory
from rest_framework import exceptions
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.views import exception_handler as framework_handler
from typing_extensions import override

from agent_access.gate import GateMiddleware
from agent_access.http.authentication import BearerAuthentication
from agent_access.http.exceptions import exception_handler
from agent_access.http.parsers import StrictJSONParser
from agent_access.http.permissions import HasGrant
from agent_access.http.renderers import ToolRenderer
from agent_access.http.requests import CallRequest
from agent_access.http.throttles import AddressThrottle, ConnectionThrottle
from agent_access.listing import TOOLS_LIST
from agent_access.models import AccessSettings, AuditEvent
from agent_access.tools import registry
from tests.agents import BAD_CREDENTIAL, HOST, Answer, HttpAgent, read_answer

# How a view is put together is the same on both databases: once is enough.
pytestmark = [pytest.mark.sqlite, pytest.mark.usefixtures("_clock_stands_still")]

Send = Callable[..., Answer]


class NotesView(APIView):
    """A view of some project that lets the connections in."""

    tool: Any = TOOLS_LIST
    authentication_classes = [BearerAuthentication]
    throttle_classes = [AddressThrottle, ConnectionThrottle]
    permission_classes: Sequence[type[BasePermission]] = []
    parser_classes = [StrictJSONParser]
    renderer_classes = [ToolRenderer]

    def get_exception_handler(self) -> Any:
        return exception_handler

    def post(self, request: Any) -> Response:
        if failure := request.query_params.get("failure"):
            raise FAILURES[failure][0]
        return Response({"person": request.user.name, "sent": request.data})


FAILURES = {
    "no-record": (Http404(), 404, "not_found"),
    "nothing": (exceptions.NotFound(), 404, "not_found"),
    "denied": (PermissionDenied(), 403, "forbidden"),
    "not-permitted": (exceptions.PermissionDenied(), 403, "forbidden"),
    "nobody": (exceptions.NotAuthenticated(), 401, "unauthenticated"),
    "somebody-else": (exceptions.AuthenticationFailed(), 401, "unauthenticated"),
    "unreadable": (exceptions.ParseError(), 422, "validation_failed"),
    "no-json": (exceptions.UnsupportedMediaType("text/plain"), 415, "json_required"),
    "throttled": (exceptions.Throttled(), 429, "rate_limited"),
}


def render(view: type[APIView]) -> Callable[[Any], HttpResponse]:
    return lambda request: view.as_view()(request).render()


@pytest.fixture
def send(agent: HttpAgent) -> Send:
    """Return a function that sends a body to the view of another project."""

    def send_body(
        body: bytes = b"{}",
        *,
        method: str = "POST",
        credential: str | None = agent.credential,
        content_type: str = "application/json",
        view: type[APIView] = NotesView,
        **query: str,
    ) -> Answer:
        headers = {"Host": HOST, "Authorization": f"Bearer {credential}"}
        path, factory = f"/notes?{urlencode(query)}", RequestFactory()
        request = factory.generic(method, path, body, content_type, secure=True, headers=headers)
        return read_answer(GateMiddleware(render(view))(request))

    return send_body


@pytest.mark.parametrize(
    ("call", "statuses"),
    [
        (("GET", "/api/v1/people/nobody", ""), [404, 401]),
        (("GET", "/api/v1/tools", "format=html"), [422, 401]),
        (("OPTIONS", "/api/v1/tools", ""), [405, 405]),
        (("POST", "/api/v1/drafts", ""), [422, 401]),
    ],
)
def test_a_projects_settings_of_rest_framework_change_no_answer(agent, settings, call, statuses):
    def answers() -> list[tuple[int, bytes, list[str]]]:
        method, path, query = call
        sent = [each.request(method, path, query=query, body=b"{") for each in callers]
        return [(each.status, each.content, list(each.headers)) for each in sent]

    callers = [agent, HttpAgent(None)]
    before = answers()
    assert [status for status, *_ in before] == statuses
    settings.REST_FRAMEWORK = {
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.BrowsableAPIRenderer"],
        "EXCEPTION_HANDLER": "rest_framework.views.exception_handler",
        "FORMAT_SUFFIX_KWARG": "target",
        "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
        "URL_FORMAT_OVERRIDE": "format",
    }
    assert answers() == before


def test_another_view_learns_who_calls(send, delegate):
    answer = send(b'{"text": "Call back"}')
    learnt = {"person": delegate.name, "sent": {"text": "Call back"}}
    assert (answer.status, answer.body) == (200, learnt)


def test_another_view_lets_nobody_in_without_a_credential(send, settings):
    """Beyond the limit of the address they do not even learn whether a credential is right."""
    settings.AGENT_ACCESS |= {"LIMIT_PER_ADDRESS": 1}
    refused = send(credential="wrong")
    assert (refused.status, refused.headers["WWW-Authenticate"]) == (401, BAD_CREDENTIAL)
    assert [send(credential=each).status for each in ("wrong", None)] == [429, 429]
    assert send().status == 429


def test_another_view_is_not_there_while_access_is_off(send):
    AccessSettings.objects.update(access_on=False)
    assert (send().status, send().code) == (404, "not_found")


@pytest.mark.parametrize("policy", ["ADDRESS", "CONNECTION"])
def test_another_view_spends_the_limits_of_the_tools(agent, send, settings, policy):
    settings.AGENT_ACCESS |= {f"LIMIT_PER_{policy}": 2}
    assert agent.call("tools.list").status == 200
    assert [send().status for _ in range(3)] == [200, 429, 429]
    assert 1 <= int(send().headers["Retry-After"]) <= 60
    refused = AuditEvent.objects.filter(action="tools.list", outcome="rate_limited")
    assert refused.count() == (policy == "CONNECTION")


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        (b'{"a": 1, "a": 2}', "application/json", 422, "validation_failed"),
        (b"{}", "text/plain", 415, "json_required"),
        (b'"' + b"x" * 256 * 1024 + b'"', "application/json", 413, "payload_too_large"),
    ],
)
def test_another_view_reads_no_body_that_the_tools_refuse(send, body, content_type, status, code):
    answer = send(body, content_type=content_type)
    assert (answer.status, answer.code) == (status, code)


@pytest.mark.parametrize("failure", FAILURES)
def test_what_rest_framework_raises_is_answered_in_the_words_of_the_tools(send, failure):
    _, status, code = FAILURES[failure]
    answer = send(failure=failure)
    assert (answer.status, answer.code) == (status, code)
    assert "detail" not in json.loads(answer.content)
    assert ("Retry-After" in answer.headers) is (status == 429)


def test_a_wrong_method_of_another_view_names_those_it_has(send):
    answer = send(method="PUT")
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert answer.headers["Allow"] == "POST, OPTIONS"


class GrantedView(NotesView):
    """The same for those who have the tool's grant, with REST framework's own handler."""

    tool: Any = registry.find("drafts.create")
    permission_classes = [HasGrant]

    @override
    def get_exception_handler(self) -> Any:
        return framework_handler


class ForgottenView(GrantedView):
    tool = None


def test_another_view_asks_for_the_grant_of_its_tool_and_is_closed_without_one(
    connect, send, delegate
):
    _, other = connect(delegate, scopes=["people:read"])
    refused = send(view=GrantedView, credential=other.credential)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert "the scope invoices:prepare" in refused.error["message"]
    assert send(view=GrantedView).status == 200
    assert (send(view=ForgottenView).status, send(view=ForgottenView).code) == (403, "forbidden")


def test_to_ask_a_calls_request_for_its_authenticator_leaves_the_user(rf):
    request = CallRequest(rf.get("/"), user="Nora", auth=None, data={})
    assert request.successful_authenticator is None
    assert request.user == "Nora"
