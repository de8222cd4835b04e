"""The door to OpenTelemetry, of which nothing is imported unless TRACES_URL is set."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING
from wsgiref.types import WSGIEnvironment

from django.core.exceptions import ImproperlyConfigured

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

    from config.operations.tracing import Tracing

MISSING = (
    "TRACES_URL needs OpenTelemetry, which is not installed here: install requirements.txt,"
    ' or the extra "tracing".'
)

# What tells a span how its request ended: method, path and status as in its line of the log.
Describe = Callable[[str, str, int], None]

_tracing: "Tracing | None" = None


def send_spans(url: str) -> None:
    """Send what this process does to the collector at the address; nowhere if that is empty.

    A thread of its own sends it, some seconds later: a collector that is down costs spans, and no
    request waits for it. Raises ImproperlyConfigured if OpenTelemetry is missing.
    """
    if not url:
        return
    try:
        from config.operations.tracing import make_exporter  # noqa: PLC0415  only where it is used
    except ModuleNotFoundError:
        raise ImproperlyConfigured(MISSING) from None
    export_spans(make_exporter(url))


def export_spans(exporter: "SpanExporter") -> "Tracing":
    """Give the spans of this process to the exporter from now on."""
    from config.operations.tracing import Tracing  # noqa: PLC0415  only where it is used

    global _tracing  # noqa: PLW0603  there is one for the process
    _tracing = Tracing(exporter)
    return _tracing


def stop_spans() -> None:
    """Send what is waiting, and no more of this process."""
    global _tracing  # noqa: PLW0603  as above
    if _tracing is not None:
        _tracing.stop()
    _tracing = None


def request_span(environ: WSGIEnvironment) -> AbstractContextManager[Describe]:
    """Run a request inside a span; gives what tells the span how the request ended."""
    return nullcontext(_say_nothing) if _tracing is None else _tracing.request_span(environ)


def _say_nothing(method: str, path: str, status: int) -> None:
    pass


def current_span_ids() -> dict[str, str]:
    """Return the IDs of the current trace and span, as a line of the log has them; or nothing."""
    return {} if _tracing is None else _tracing.current_ids()
