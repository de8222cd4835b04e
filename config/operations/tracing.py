"""Spans of OpenTelemetry: one for each request, and inside it one for each statement.

A span knows less than the request's line in the log: no address and no person, since traces often
go to another company. Of a statement it has the operation and the table, and never the text, in
which a value might stand.

The ready-made instrumentation of WSGI and Django is not used: it sends each address as it was asked
for, queries and one-time links included. Only spans.py imports this module.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from typing import Any, TypeVar
from wsgiref.types import WSGIEnvironment

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import (
    Link,
    Span,
    SpanKind,
    StatusCode,
    format_span_id,
    format_trace_id,
    get_current_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from agent_access.request_facts import current_facts
from config.operations.spans import Describe

# What traces are called by, unless OTEL_SERVICE_NAME says otherwise.
SERVICE = "agent-invoicing"
OPERATIONS = frozenset(
    {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "SAVEPOINT", "RELEASE", "ROLLBACK", "SET"}
)
OTHER = "OTHER"
TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE)\s+"?([a-z0-9_]+)"?')
IDENTIFIER = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_Result = TypeVar("_Result")


def make_exporter(url: str) -> SpanExporter:
    return OTLPSpanExporter(endpoint=url)


class Tracing:
    """Makes the spans of this process, and gives them to the exporter in a thread of its own."""

    def __init__(self, exporter: SpanExporter) -> None:
        os.environ.setdefault("OTEL_SERVICE_NAME", SERVICE)
        # What OTEL_TRACES_SAMPLER and its like say is read here.
        self._provider = TracerProvider(resource=Resource.create())
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(__name__)
        connection_created.connect(self._watch_statements)

    def stop(self) -> None:
        """Send what is waiting, and make no more spans."""
        connection_created.disconnect(self._watch_statements)
        self._provider.shutdown()

    @contextmanager
    def request_span(self, environ: WSGIEnvironment) -> Iterator[Describe]:
        with self._tracer.start_as_current_span(
            "request",
            context=Context(),
            kind=SpanKind.SERVER,
            links=_find_links(environ),
            record_exception=False,  # its message may hold what was sent; the log hides that
            set_status_on_exception=False,
        ) as span:
            yield lambda method, path, status: _describe(span, method, path, status)

    def current_ids(self) -> dict[str, str]:
        current = get_current_span().get_span_context()
        if not current.is_valid:
            return {}
        return {
            "trace_id": format_trace_id(current.trace_id),
            "span_id": format_span_id(current.span_id),
        }

    def _watch_statements(
        self, sender: Any, connection: BaseDatabaseWrapper, **kwargs: Any
    ) -> None:
        """Receive `connection_created`, also when a lost connection is made again."""
        if self._trace_statement not in connection.execute_wrappers:
            connection.execute_wrappers.append(self._trace_statement)

    def _trace_statement(
        self, execute: Callable[..., _Result], sql: Any, params: Any, many: Any, context: Any
    ) -> _Result:
        if not get_current_span().is_recording():
            return execute(sql, params, many, context)
        operation, table = _summarise(sql)
        told = {
            "db.system.name": context["connection"].vendor,
            "db.operation.name": operation,
            "db.collection.name": table,
        }
        with self._tracer.start_as_current_span(
            f"{operation} {table}".strip(),
            kind=SpanKind.CLIENT,
            attributes={key: value for key, value in told.items() if value},
            record_exception=False,  # its message may hold what was sent; the log hides that
            set_status_on_exception=False,
        ) as span:
            try:
                return execute(sql, params, many, context)
            except Exception as error:
                span.set_attribute("error.type", type(error).__qualname__)
                span.set_status(StatusCode.ERROR)
                raise


def _find_links(environ: WSGIEnvironment) -> list[Link]:
    """Return a link to the span that the caller names: anybody can name one, so it is no parent."""
    sent = {"traceparent": environ.get("HTTP_TRACEPARENT", "")}
    named = TraceContextTextMapPropagator().extract(sent, Context())
    caller = get_current_span(named).get_span_context()
    return [Link(caller)] if caller.is_valid else []


def _describe(span: Span, method: str, path: str, status: int) -> None:
    facts = current_facts()
    # Of an address that is not there the name would be a stranger's words.
    place = IDENTIFIER.sub("*", path) if status != HTTPStatus.NOT_FOUND else ""
    span.update_name(facts.tool or f"{method} {place}".strip())
    told: dict[str, str | int] = {
        "http.request.method": method,
        "url.path": path,
        "http.response.status_code": status,
        "request_id": facts.request_id,
        "connection_id": str(facts.connection_id or ""),
        "transport": facts.transport,
        "tool": facts.tool,
        "outcome": facts.outcome,
    }
    span.set_attributes({key: value for key, value in told.items() if value})
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        span.set_status(StatusCode.ERROR)


def _summarise(sql: Any) -> tuple[str, str]:
    """Return the operation and its first table, each from a closed set; the table may be empty."""
    text = sql if isinstance(sql, str) else ""
    operation = text.lstrip().partition(" ")[0].upper()
    table = TABLE.search(text)
    return (
        operation if operation in OPERATIONS else OTHER,
        table[1] if table and table[1] in _tables() else "",
    )


@cache
def _tables() -> frozenset[str]:
    return frozenset(model._meta.db_table for model in apps.get_models(include_auto_created=True))
