"""A browser whose requests pass the log as a server's do."""

import logging
import re
from collections.abc import Callable
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings as django_settings
from django.test import Client

from config.wsgi import application
from tests.agents import HOST, Answer
from tests.hostile.target import kept_connection
from tests.operations.wsgi import call

ADDRESS = "192.0.2.7"
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')

Line = dict[str, Any]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[Line]]:
    """Return the facts of the request lines since the test began."""
    caplog.set_level(logging.INFO, logger="operations.request_log")
    return lambda: [vars(each)["facts"] for each in caplog.records if hasattr(each, "facts")]


def send(method: str, path: str, **environ: Any) -> Answer:
    """Send a request through everything that a server runs, the log of requests included."""
    sent = {"HTTP_HOST": HOST, "REMOTE_ADDR": ADDRESS, "wsgi.url_scheme": "https", **environ}
    with kept_connection():
        return call(application, method, path, **sent)


def send_form(path: str, fields: dict[str, str], **environ: Any) -> Answer:
    """Send the form of a page as its browser does, with the page's token."""
    page = send("GET", path)
    [token] = TOKEN.findall(page.content.decode())
    cookie = page.headers["Set-Cookie"].partition(";")[0]
    body = urlencode({**fields, "csrfmiddlewaretoken": token}).encode()
    return send_body(path, body, HTTP_COOKIE=cookie, HTTP_ORIGIN=f"https://{HOST}", **environ)


def send_body(path: str, body: bytes, **environ: Any) -> Answer:
    return send(
        "POST",
        path,
        CONTENT_TYPE="application/x-www-form-urlencoded",
        CONTENT_LENGTH=str(len(body)),
        **{"wsgi.input": BytesIO(body), **environ},
    )


def session_cookie(browser: Client) -> str:
    name = django_settings.SESSION_COOKIE_NAME
    return f"{name}={browser.cookies[name].value}"
