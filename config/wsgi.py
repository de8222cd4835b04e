"""The WSGI application that a server loads; one that could show no page does not start."""

import gc
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Thread
from typing import NoReturn

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from agent_access.gate import GateApplication
from config.operations.daily_work import watch_daily_work
from config.operations.health import HealthApplication
from config.operations.log_lines import is_json, server_lines
from config.operations.metrics import serve_metrics
from config.operations.readiness import NotReadyError, Readiness, ServiceProbe, require_files
from config.operations.request_log import RequestLog
from config.operations.spans import send_spans
from mcp_gateway.endpoint import load_views

logger = logging.getLogger(__name__)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


@contextmanager
def loading() -> Iterator[None]:
    """Pause the garbage collector while loading, and exempt what was loaded from it for good."""
    gc.disable()
    try:
        yield
    finally:
        gc.collect()  # what is garbage already would stay for good, too
        gc.freeze()
        gc.enable()


@loading()
def load_application() -> HealthApplication:
    """Return the application; end the process with one sentence if it must not serve."""
    logging.captureWarnings(capture=True)
    try:
        return _load()
    except ImproperlyConfigured as error:
        _end(f"Wrong setting: {error}")
    except NotReadyError as error:
        _end(str(error))
    except Exception:
        # The server would write the trace as it is, over many lines.
        logger.critical("The service does not start.", exc_info=True)
        sys.exit(1)


def _load() -> HealthApplication:
    django.setup(set_prefix=False)
    _require_what_it_needs()
    further = [watch_daily_work()] if settings.METRICS_ADDRESS else []
    serve_metrics(settings.METRICS_ADDRESS, *further)
    send_spans(settings.TRACES_URL)
    # Imports the views now, so that the first caller need not wait for them.
    import_module(settings.ROOT_URLCONF)
    is_ready = Readiness(ServiceProbe()).read
    is_ready()  # logs what is missing, though nobody may ever probe
    application = HealthApplication(RequestLog(GateApplication()), is_ready=is_ready)
    # MCP's views are imported in the background: they take a third as long as all else.
    Thread(target=load_views).start()
    return application


def _require_what_it_needs() -> None:
    """Raise for what cannot recover while serving; log what is merely suspicious."""
    from agent_access.checks import require_safe_settings  # noqa: PLC0415  after setup()
    from config.operations.checks import check_names  # noqa: PLC0415  as above

    require_safe_settings()
    require_files()
    for found in check_names():
        logger.warning("%s %s", found.msg, found.hint)


def _end(sentence: str) -> NoReturn:
    """End the process; the sentence is a line of the log where that is of JSON."""
    if is_json():
        record = logger.makeRecord(logger.name, logging.CRITICAL, __file__, 0, sentence, (), None)
        sentence = server_lines().format(record)
    sys.exit(sentence)


application = load_application()
