"""The WSGI application that a server loads; with a dangerous setting the server does not start."""

import gc
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Thread

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from agent_access.gate import GateApplication
from mcp_gateway.endpoint import load_views
from operations.health import HealthApplication
from operations.metrics import serve_metrics
from operations.readiness import Readiness, ServiceProbe
from operations.request_log import RequestLog

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
        django.setup(set_prefix=False)
        from agent_access.checks import require_safe_settings  # noqa: PLC0415  after setup()

        require_safe_settings()
        serve_metrics(settings.METRICS_ADDRESS)
    except ImproperlyConfigured as error:
        sys.exit(f"Wrong setting: {error}")
    # Imports the views now, so that the first caller need not wait for them.
    import_module(settings.ROOT_URLCONF)
    is_ready = Readiness(ServiceProbe()).read
    application = HealthApplication(RequestLog(GateApplication()), is_ready=is_ready)
    # MCP's views are imported in the background: they take a third as long as all else.
    Thread(target=load_views).start()
    return application


application = load_application()
