"""What OpenTelemetry is told: how requests and statements went, and nothing that was sent."""

import json
import logging
import secrets
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from django.db import connection as database
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from typing_extensions import override

from agent_access.credentials import make_credential
from config.operations import spans
from config.operations.log_lines import JsonLines
from config.operations.request_log import RequestLog
from tests.operations.wsgi import call, send
from tests.programs import run_python

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

ALLOWED = {
    "http.request.method",
    "url.path",
    "http.response.status_code",
    "request_id",
    "connection_id",
    "transport",
    "tool",
    "outcome",
    "db.system.name",
    "db.operation.name",
    "db.collection.name",
    "error.type",
}


class Collected:
    """The spans of a test, read once all of them have been given to the exporter."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.tracing = spans.export_spans(self._exporter)

    def finish(self) -> list[ReadableSpan]:
        spans.stop_spans()
        return list(self._exporter.get_finished_spans())

    def of_requests(self) -> list[ReadableSpan]:
        return [span for span in self.finish() if span.parent is None]


@pytest.fixture
def collected() -> Iterator[Collected]:
    wrappers = list(database.execute_wrappers)
    made = Collected()
    # The connection of the test was made before.
    made.tracing._watch_statements(None, database)
    try:
        yield made
    finally:
        spans.stop_spans()
        database.execute_wrappers[:] = wrappers


def facts_of(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


@pytest.mark.django_db
def test_a_call_is_a_span_that_names_its_tool_and_holds_its_statements(
    agent, collected, connection
):
    answer = send("GET", "/api/v1/customers", credential=agent.credential)
    finished = collected.finish()
    [request] = [span for span in finished if span.parent is None]
    assert request.name == "customers.search"
    assert facts_of(request) == {
        "http.request.method": "GET",
        "url.path": "/api/v1/customers",
        "http.response.status_code": 200,
        "request_id": answer.headers["X-Request-Id"],
        "connection_id": str(connection.id),
        "transport": "http",
        "tool": "customers.search",
        "outcome": "ok",
    }
    inside = {span.name for span in finished if span.parent == request.context}
    assert "SELECT invoices_customer" in inside
    assert {span.context.trace_id for span in finished if span.context} == {
        request.context and request.context.trace_id
    }


@pytest.mark.django_db
def test_nothing_that_was_sent_is_in_a_span(agent, collected):
    """Neither credential, query, one-time link, header nor address of the client."""
    secret, credential = secrets.token_urlsafe(24), make_credential()
    sent = {"QUERY_STRING": f"search={secret}", "HTTP_USER_AGENT": secret, "HTTP_COOKIE": secret}
    for path in ("/api/v1/customers", f"/{secret}", f"/set-password/MQ/{secret}", "/sign-in"):
        for key in (agent.credential, credential):
            send("GET", path, credential=key, **sent)
    finished = collected.finish()
    assert len(finished) > 8
    told = "".join(span.to_json() for span in finished)
    for hidden in (secret, credential, agent.credential, "192.0.2.7", "ivc_"):
        assert hidden not in told
    assert {key for span in finished for key in facts_of(span)} <= ALLOWED
    assert [span.events for span in finished if span.events] == []


@pytest.mark.django_db
def test_a_name_has_no_identifier_and_nothing_that_a_stranger_chose(collected):
    send("GET", "/documents/0190f1f0-0000-7000-8000-00000000abcd")
    send("GET", "/chosen/by/a-stranger")
    send("GET", "/sign-in")
    names = [span.name for span in collected.of_requests()]
    assert names == ["GET /documents/*", "GET", "GET /sign-in"]


@pytest.mark.django_db(transaction=True)  # a statement fails
def test_a_value_in_a_statement_is_in_no_span(collected):
    with spans.request_span({}), database.cursor() as cursor:
        cursor.execute("SELECT 'secret-1' WHERE 'x' = %s", ["secret-2"])
        cursor.execute("SELECT 1 FROM invoices_customer WHERE name = 'FROM secret_3'")
        cursor.execute("VALUES ('secret-4')")
        with pytest.raises(DatabaseError):
            cursor.execute("SELECT secret_5 FROM secret_6")
    finished = collected.finish()
    assert "secret" not in "".join(span.to_json() for span in finished)
    *names, _ = [span.name for span in finished]
    assert names == ["SELECT", "SELECT invoices_customer", "OTHER", "SELECT"]
    failed = finished[3]
    assert facts_of(failed)["error.type"] in {"OperationalError", "ProgrammingError"}
    assert failed.status.status_code is StatusCode.ERROR


@pytest.mark.django_db
def test_a_statement_outside_a_request_makes_no_span(collected):
    with database.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert collected.finish() == []


def test_a_callers_own_trace_is_linked_and_never_continued(collected):
    """Otherwise a stranger would choose what is sampled, and put requests into others' traces."""

    def application(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        return [b""]

    for sent in (PARENT, "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "nonsense"):
        call(RequestLog(application), "GET", "/", HTTP_TRACEPARENT=sent)
    first, *others = collected.of_requests()
    [link] = first.links
    assert f"{link.context.trace_id:032x}" == PARENT.split("-")[1]
    assert f"{first.context.trace_id:032x}" not in PARENT
    assert [span.links for span in others] == [(), ()]


def test_a_request_that_fails_is_marked_and_its_error_not_told(collected):
    def application(environ: Any, start_response: Any) -> list[bytes]:
        raise RuntimeError("secret")

    call(RequestLog(application), "GET", "/sign-in")
    [request] = collected.of_requests()
    assert request.status.status_code is StatusCode.ERROR
    assert facts_of(request)["http.response.status_code"] == 500
    assert "secret" not in request.to_json()


@pytest.mark.django_db
def test_each_line_of_the_log_names_its_trace(agent, collected, caplog):
    caplog.set_level(logging.INFO)
    caplog.handler.setFormatter(JsonLines())
    send("GET", "/api/v1/customers", credential=agent.credential)
    [line] = map(json.loads, caplog.text.splitlines())
    [request] = collected.of_requests()
    assert line["trace_id"] == f"{request.context.trace_id:032x}"
    assert line["span_id"] == f"{request.context.span_id:016x}"


class BrokenExporter(SpanExporter):
    @override
    def export(self, spans: Any) -> Any:
        raise OSError

    @override
    def shutdown(self) -> None:
        pass


def test_a_collector_that_fails_costs_no_answer():
    def application(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        return [b"answered"]

    spans.export_spans(BrokenExporter())
    try:
        assert call(RequestLog(application), "GET", "/").content == b"answered"
    finally:
        spans.stop_spans()


# A process that serves one request.
PROCESS = """
from config.wsgi import application
list(application({"REQUEST_METHOD": "GET", "PATH_INFO": "/sign-in"}, lambda *_: None))
"""


class Collector(BaseHTTPRequestHandler):
    received: list[ExportTraceServiceRequest] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    @override
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.sqlite
def test_with_the_setting_spans_reach_the_collector_before_the_process_ends(collector):
    url = f"http://127.0.0.1:{collector.server_port}/v1/traces"
    told = run_python("-c", PROCESS, settings={"TRACES_URL": url})
    assert told.returncode == 0, told.stderr
    [sent] = Collector.received
    [resource] = sent.resource_spans
    about = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert about["service.name"] == "agent-invoicing"
    assert not set(about) - {
        "service.name",
        "service.instance.id",
        "telemetry.sdk.language",
        "telemetry.sdk.name",
        "telemetry.sdk.version",
    }
    assert "GET /sign-in" in [span.name for span in resource.scope_spans[0].spans]


def test_a_service_without_the_library_says_so_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "config.operations.tracing", None)
    with pytest.raises(ImproperlyConfigured, match="TRACES_URL needs OpenTelemetry, which is not"):
        spans.send_spans("http://127.0.0.1:4318/v1/traces")
