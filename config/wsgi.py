"""The WSGI application that a server loads."""

import logging
import os
from importlib import import_module

import django
from django.conf import settings

from agent_access.gate import GateApplication
from operations.health import HealthApplication
from operations.metrics import serve_metrics
from operations.readiness import Readiness, ServiceProbe
from operations.request_log import RequestLog

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

logging.captureWarnings(capture=True)
django.setup(set_prefix=False)
import_module(settings.ROOT_URLCONF)  # now, so that the first caller need not wait for the views
serve_metrics(settings.METRICS_ADDRESS)
application = HealthApplication(
    RequestLog(GateApplication()), is_ready=Readiness(ServiceProbe()).read
)
