"""The metrics of a process for Prometheus: how many requests, of which kind, and how long.

No label holds an identifier, and each takes its value from a closed set.
"""

import errno
import logging
import os
import time
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured
from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    start_http_server,
)
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from agent_access.request_facts import RequestFacts

if TYPE_CHECKING:  # models need the settings, which metrics do not
    from agent_access.approvals.models import ApprovalRequest

logger = logging.getLogger(__name__)

# The library's own variable: a folder in which the processes of one machine share counts.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
NONE = "none"
# Between the tries of a process that could not have the address.
PAUSE_SECONDS = 5.0

# `_created` would double the number of series; Prometheus knows when it first saw one.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library's own gap

REQUESTS = Counter(
    "http_requests",
    "Requests answered, by transport, tool, outcome as in the audit, and HTTP status.",
    ["transport", "tool", "outcome", "status"],
)
SECONDS = Histogram(
    "http_request_duration_seconds",
    "Time from the request to its answer.",
    ["transport", "tool"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)

DECISIONS = Histogram(
    "approval_decision_seconds",
    "Time from an agent's request to its person's decision.",
    ["decision"],
    buckets=(5, 10, 20, 30, 60, 120, 180, 300, 450, 600),
)


def count_request(facts: RequestFacts, *, status: int, seconds: float) -> None:
    transport, tool = facts.transport or NONE, facts.tool or NONE
    REQUESTS.labels(transport, tool, facts.outcome or NONE, str(status)).inc()
    SECONDS.labels(transport, tool).observe(seconds)


def time_decision(sender: Any, approval: "ApprovalRequest", **kwargs: Any) -> None:
    """Receive `approval_decided`."""
    took = approval.decided_at - approval.prepared_at  # type: ignore[operator]  # it is decided
    DECISIONS.labels(approval.decision).observe(took.total_seconds())


def serve_metrics(address: str, *further: Collector) -> None:
    """Serve the metrics at `host:port` from a thread of this process; nowhere if that is empty.

    What `further` collectors tell is the same in all processes.

    Of several processes on one machine the first serves them, for all if they share a folder. Once
    it has ended another takes over, since a restart may start the new processes first. Raises
    ImproperlyConfigured if the shared folder is of no use: each request is counted there.
    """
    registry = _registry()
    if not address:
        return
    for each in further:
        registry.register(each)
    if obstacle := _try_to_serve(address, registry):
        # Usually another process of ours has the address.
        level = logging.INFO if obstacle.errno == errno.EADDRINUSE else logging.WARNING
        words = "This process cannot serve metrics at METRICS_ADDRESS yet: %s."
        logger.log(level, words, obstacle.strerror)
        Thread(target=_take_over, args=(address, registry), daemon=True).start()


def _take_over(address: str, registry: CollectorRegistry) -> None:
    while _try_to_serve(address, registry):
        time.sleep(PAUSE_SECONDS)


def _try_to_serve(address: str, registry: CollectorRegistry) -> OSError | None:
    """Serve at the address; return why that is impossible now, or None."""
    host, _, port = address.rpartition(":")
    try:
        start_http_server(int(port), host.strip("[]"), registry=registry)
    except OSError as error:
        return error
    return None


def _registry() -> CollectorRegistry:
    if SHARED_FOLDER not in os.environ:
        return REGISTRY
    shared = CollectorRegistry()
    try:
        # What cleans /tmp up may have deleted it before this process took the place of another.
        Path(os.environ[SHARED_FOLDER]).mkdir(mode=0o700, exist_ok=True)
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]  # the library's own gap
        if not os.access(os.environ[SHARED_FOLDER], os.W_OK | os.X_OK):
            raise PermissionError
    except (OSError, ValueError):
        raise ImproperlyConfigured(
            f"{SHARED_FOLDER} must name a folder that is there or can be made, and that this"
            " account may write."
        ) from None
    return shared
