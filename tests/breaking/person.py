"""A person at the review page, with a browser's session."""

import re
from collections.abc import Mapping
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import NamedTuple
from urllib.parse import urlencode

from tests.breaking.wire import HOST, LOCAL

FIELD = re.compile(r'name="(csrfmiddlewaretoken|fingerprint)" value="(\w+)"')


class UnheardError(Exception):
    """No answer came, or one that says to ask again."""


class Visit(NamedTuple):
    """The process that is asked, and for how many seconds it is waited for."""

    port: int
    patience: float


class Person:
    """Signs in once and decides; each request may go to another process."""

    def __init__(self, *, email: str, password: str, address: str) -> None:
        self._sign_in = {"username": email, "password": password}
        self._address = address
        self._cookies: dict[str, str] = {}

    def sign_in(self, visit: Visit) -> None:
        self._cookies = {}
        _, page = self._ask(visit, "GET", "/sign-in")
        status, _ = self._ask(visit, "POST", "/sign-in", _fields(page) | self._sign_in)
        if status != HTTPStatus.FOUND:
            raise UnheardError

    def decide(self, visit: Visit, approval_id: str, decision: str) -> bool:
        """Look at the page and decide; False where there was nothing to decide any more."""
        path = f"/approvals/{approval_id}"
        status, page = self._ask(visit, "GET", path)
        if status == HTTPStatus.FOUND:
            self.sign_in(visit)
            raise UnheardError
        fields = _fields(page)
        if "fingerprint" not in fields:
            return False
        status, _ = self._ask(visit, "POST", path, {**fields, "decision": decision, "reason": ""})
        return status == HTTPStatus.FOUND

    def _ask(
        self, visit: Visit, method: str, path: str, fields: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        body = urlencode(fields or {}) if method == "POST" else None
        caller = HTTPConnection(LOCAL, visit.port, timeout=visit.patience)
        try:
            with closing(caller):
                caller.request(method, path, body, self._headers())
                response = caller.getresponse()
                page = response.read().decode()
        except (OSError, HTTPException) as error:
            raise UnheardError from error
        if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise UnheardError
        self._keep_cookies(response)
        return response.status, page

    def _headers(self) -> dict[str, str]:
        return {
            "Host": HOST,
            "X-Forwarded-Proto": "https",
            "X-Forwarded-For": self._address,
            "Referer": f"https://{HOST}/",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items()),
            "Content-Type": "application/x-www-form-urlencoded",
        }

    def _keep_cookies(self, response: HTTPResponse) -> None:
        for cookie in response.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.split(";")[0].partition("=")
            self._cookies[name] = value


def _fields(page: str) -> dict[str, str]:
    return dict(FIELD.findall(page))
