"""A browser whose requests pass the log as a server's do."""

import re
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.test import Client

from tests.agents import HOST, Answer
from tests.operations.wsgi import send

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


def send_form(path: str, fields: dict[str, str], **environ: Any) -> Answer:
    """Send the form of a page as its browser does, with the page's token."""
    page = send("GET", path)
    token = TOKEN.findall(page.content.decode())[0]
    cookie = page.headers["Set-Cookie"].partition(";")[0]
    body = urlencode({**fields, "csrfmiddlewaretoken": token}).encode()
    return send_body(path, body, HTTP_COOKIE=cookie, HTTP_ORIGIN=f"https://{HOST}", **environ)


def send_body(path: str, body: bytes, **environ: Any) -> Answer:
    form: dict[str, Any] = {
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
    }
    return send("POST", path, **form | environ)


def session_cookie(browser: Client) -> str:
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={browser.cookies[name].value}"
