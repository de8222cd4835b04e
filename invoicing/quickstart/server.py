"""The HTTPS server of the quickstart, which tells when it is ready."""

import json
import multiprocessing
import signal
import ssl
import threading
from collections.abc import Callable
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit
from wsgiref.types import WSGIApplication

from django.db import connections
from django.utils.module_loading import import_string
from granian import Granian
from granian.constants import Interfaces, SSLProtocols
from granian.log import LogLevels

from invoicing.application_url import loopback_address, port_of
from invoicing.quickstart.certificate import Certificate

THREADS = 8
STOPPING_SECONDS = 10
PAUSE_SECONDS = 0.1


def serve(
    application: str,
    *,
    base_url: str,
    certificate: Certificate,
    log_config: Path,
    on_ready: Callable[[], None],
) -> None:
    """Serve until Ctrl-C or SIGTERM; requests under way are finished.

    `application` is written as in Django's WSGI_APPLICATION. Calls `on_ready` once the server has
    answered a request. Exits with status 1 if it cannot serve.
    """
    connections.close_all()
    # Spawned, since a forked worker would inherit locks and open files of this process.
    multiprocessing.set_start_method("spawn", force=True)
    server = Granian(
        application,
        address=loopback_address(base_url) or "",
        port=port_of(base_url),
        interface=Interfaces.WSGI,
        blocking_threads=THREADS,
        websockets=False,
        log_level=LogLevels.error,  # it would warn that eight threads are many
        log_dictconfig=json.loads(log_config.read_text(encoding="utf-8")),
        ssl_cert=certificate.server,
        ssl_key=certificate.server,
        ssl_protocol_min=SSLProtocols.tls12,
        workers_kill_timeout=STOPPING_SECONDS,
    )
    stopped = threading.Event()
    watch = threading.Thread(target=_watch, args=(base_url, certificate, on_ready, stopped))
    watch.start()
    try:
        server.serve(target_loader=_load_application)
    finally:
        stopped.set()
        watch.join()


def _load_application(path: str) -> WSGIApplication:
    """Load the application in the worker, and let it ignore Ctrl-C.

    A terminal sends Ctrl-C to parent and worker; the parent stops the worker, and a second signal
    can lock up granian's worker as it stops.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    application: WSGIApplication = import_string(path)
    return application


def _watch(
    base_url: str, certificate: Certificate, on_ready: Callable[[], None], stopped: threading.Event
) -> None:
    trust = ssl.create_default_context(cafile=certificate.authority)
    while not stopped.wait(PAUSE_SECONDS):
        if _answers(base_url, trust):
            on_ready()
            return


def _answers(base_url: str, trust: ssl.SSLContext) -> bool:
    # The probe, which is neither limited nor logged.
    connection = HTTPSConnection(urlsplit(base_url).netloc, timeout=1, context=trust)
    try:
        connection.request("HEAD", "/healthz")
        connection.getresponse().read()
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
    return True
