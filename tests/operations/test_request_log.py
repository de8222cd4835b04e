"""One line for every request: who called what and how it ended, and nothing that was sent."""

import json
import logging
from contextvars import Context
from typing import Any

import pytest
from django.core.cache import CacheHandler
from django.utils import timezone

from agent_access.credentials import make_credential
from agent_access.request_facts import UNKNOWN, current_facts
from config.operations.log_lines import JsonLines
from config.operations.request_log import RequestLog, redact_path
from invoicing.identifiers import new_id
from invoicing.services import drafts
from tests.approvals import prepare
from tests.factories import make_draft
from tests.operations.wsgi import call, send

pytestmark = pytest.mark.django_db

IDENTIFIER = "0190f1f0-0000-7000-8000-00000000abcd"


def without_duration(facts: dict[str, Any]) -> dict[str, Any]:
    assert 0 <= facts["duration_ms"] < 60_000
    return {key: value for key, value in facts.items() if key != "duration_ms"}


def test_a_call_is_one_line_that_names_its_tool(agent, connection, request_lines, caplog):
    answer = send("GET", "/api/v1/customers", credential=agent.credential, QUERY_STRING="search=ab")
    [facts] = request_lines()
    assert without_duration(facts) == {
        "method": "GET",
        "path": "/api/v1/customers",
        "status": 200,
        "tool": "customers.search",
        "outcome": "ok",
        "client_address": "192.0.2.7",
        "person_id": "",
    }
    assert caplog.records[-1].getMessage().startswith("GET /api/v1/customers 200 ")
    assert caplog.records[-1].getMessage().endswith(" ms customers.search ok 192.0.2.7")
    assert answer.status == 200


def test_nothing_is_known_of_the_request_before(agent, connection, caplog):
    caplog.set_level(logging.INFO, logger="config.operations.request_log")
    caplog.handler.setFormatter(JsonLines())
    known = send("GET", "/api/v1/customers", credential=agent.credential)
    unknown = send("GET", "/api/v1/customers")
    first, second = map(json.loads, caplog.text.splitlines())
    assert first["request_id"] == known.headers["X-Request-Id"]
    assert first["connection_id"] == str(connection.id)
    assert second["request_id"] == unknown.headers["X-Request-Id"]
    assert "connection_id" not in second
    assert current_facts() == UNKNOWN


def test_a_thread_keeps_its_connection_to_the_cache(agent, monkeypatch):
    made = []
    create = CacheHandler.create_connection

    def count(handler: CacheHandler, alias: str) -> Any:
        made.append(alias)
        return create(handler, alias)

    monkeypatch.setattr(CacheHandler, "create_connection", count)
    thread = Context()  # as one begins
    for _ in range(2):
        thread.run(send, "GET", "/api/v1/customers", credential=agent.credential)
    assert made == ["default"]


def test_a_refusal_is_a_line_with_its_outcome(agent, request_lines):
    send("GET", f"/api/v1/documents/{IDENTIFIER}", credential=agent.credential)
    send("GET", "/api/v1/customers", credential=make_credential())
    send("GET", "/api/v1/customers", HTTP_HOST="other.example")
    assert [(line["status"], line["tool"], line["outcome"]) for line in request_lines()] == [
        (404, "documents.get", "not_found"),
        (401, "", ""),
        (403, "", ""),
    ]


def test_what_an_open_page_asks_by_itself_is_no_line_unless_it_is_refused(
    sign_in, delegate, customer, request_lines
):
    draft = make_draft(user=delegate, customer=customer)
    approval = prepare(draft, user=delegate, now=timezone.now()).approval
    cookie = sign_in(delegate).cookies.output(header="", attrs=[])
    standings = [f"approvals/{each}/version" for each in (approval.id, new_id())]
    asked = ("approvals/waiting", *standings, "approvals")
    answers = [send("GET", f"/{each}", HTTP_COOKIE=cookie).status for each in asked]
    assert answers == [200, 200, 404, 200]
    assert [line["status"] for line in request_lines()] == [404, 200]


def test_nothing_that_was_sent_is_in_a_line(agent, request_lines, caplog):
    secret = make_credential()
    send("GET", f"/{secret}/x", credential=agent.credential)
    send("GET", "/api/v1/customers", QUERY_STRING=f"x={secret}", HTTP_COOKIE=secret)
    send(secret, "/api/v1/customers", HTTP_USER_AGENT=secret, HTTP_REFERER=secret)
    send("GET", "/\n\x00\udcff")
    assert [(line["method"], line["path"]) for line in request_lines()] == [
        ("GET", "/*/x"),
        ("GET", "/api/v1/customers"),
        ("*", "/api/v1/customers"),
        ("GET", "/*"),
    ]
    assert secret not in caplog.text


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/", "/"),
        ("", ""),
        ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource/mcp"),
        (f"/api/v1/documents/{IDENTIFIER}", f"/api/v1/documents/{IDENTIFIER}"),
        (f"/set-password/MQ/c8f3k1-{'0a' * 16}", "/set-password/MQ/*"),
        ("/static/app.css", "/static/app.css"),
        ("/a b/c", "/*/c"),
        ("/" + "x/" * 1000, "/" + "x/" * 18 + "x"),
        ("/" + "x" * 100_000, "/*"),
    ],
)
def test_a_path_is_told_in_words_of_our_own(path, told):
    assert redact_path(path) == told


@pytest.mark.requirement("error.no_leaks")
def test_a_bug_in_a_call_with_a_credential_is_told_without_it(
    agent, draft_body, settings, monkeypatch, caplog
):
    settings.AGENT_ACCESS |= {"RAISE_UNFORESEEN": False}

    # Not the agent's own: the suite watches that it stands in no record at all.
    credential = make_credential()

    def fail(*args: object, **options: object) -> None:
        raise RuntimeError(f"with Bearer {credential}", credential)

    monkeypatch.setattr(drafts, "create_draft", fail)
    assert agent.call("drafts.create", draft_body, key="one").status == 503
    record = next(each for each in caplog.records if each.exc_info)
    written = JsonLines().format(record)
    assert "RuntimeError" in written
    assert "in fail" in written
    assert credential.removeprefix("ivc_") not in written


def test_a_bug_outside_every_view_is_one_word_and_a_trace_without_secrets(caplog):
    credential = make_credential()

    def fail(environ: Any, start_response: Any) -> list[bytes]:
        raise RuntimeError(credential)

    answer = call(RequestLog(fail), "GET", "/")
    assert (answer.status, answer.content) == (500, b"unavailable")
    assert answer.headers["Cache-Control"] == "no-store"
    [trace] = [record for record in caplog.records if record.exc_info]
    assert credential.removeprefix("ivc_") not in JsonLines().format(trace)


def test_a_bug_after_the_start_of_an_answer_is_logged_as_the_500_that_came_of_it(request_lines):
    def fail(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        raise RuntimeError

    def start(status: str, *_: Any) -> Any:
        started.append(status)

    started: list[str] = []
    RequestLog(fail)({"REQUEST_METHOD": "GET"}, start)
    assert started == ["200 OK", "500 Internal Server Error"]
    assert [line["status"] for line in request_lines()] == [500]


def test_an_answer_is_given_and_logged_even_if_it_cannot_be_counted(
    agent, monkeypatch, request_lines, caplog
):
    def fail(*_: Any, **__: Any) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("config.operations.request_log.count_request", fail)
    assert send("GET", "/api/v1/customers", credential=agent.credential).status == 200
    assert [line["status"] for line in request_lines()] == [200]
    assert "A request could not be counted." in caplog.text
