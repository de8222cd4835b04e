"""One exchange with a process of the service, over HTTP: whole, or cut by whoever asks."""

import time
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import NamedTuple

from tests.breaking.wire import HOST, LOCAL


class LostError(Exception):
    """No whole answer came: what was asked for may be done, or not."""


class UnsentError(LostError):
    """Nobody listened, so nothing was asked for."""


class Answer(NamedTuple):
    """A whole answer."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def location(self) -> str:
        return self.headers.get("location", "")


def exchange(
    port: int,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
    *,
    patience: float,
    cut: float | None = None,
) -> tuple[Answer, HTTPResponse]:
    """Return the answer, and what it was read from; raise LostError, also for a 5xx.

    `patience` is how many seconds each reading may take. With `cut` the connection is closed so
    many seconds after the request was sent, however much of the answer has come.
    """
    caller = HTTPConnection(LOCAL, port, timeout=patience)
    try:
        caller.connect()
    except OSError as error:
        raise UnsentError from error
    try:
        with closing(caller):
            caller.request(method, path, body, dict(headers))
            if cut is not None:
                time.sleep(cut)
                raise LostError
            response = caller.getresponse()
            content = response.read()
    except (OSError, HTTPException) as error:
        raise LostError from error
    if response.status >= 500:
        raise LostError
    told = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, content, told), response


def through_the_proxy(address: str) -> dict[str, str]:
    """Return the header fields that the proxy in front of the service adds."""
    return {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": address}
