"""A person at the review page, with a browser's session."""

import json
import re
from collections.abc import Mapping
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import NamedTuple
from urllib.parse import urlencode

from invoicing.fixed_point import DECIMALS, format_fixed_point, parse_fixed_point
from invoicing.web.typed_numbers import avoid_grouping
from tests.breaking.wire import HOST, LOCAL
from tests.passkeys import SoftPasskey, challenge_in

FIELD = re.compile(r'name="([\w-]+)" value="([^"]*)"')
QUANTITY = "quantity-"
SIGNING = re.compile(r'data-signing="([^"]*)"')


class UnheardError(Exception):
    """No answer came, or one that says to ask again."""


class Page(NamedTuple):
    status: int
    text: str
    location: str


class Correction(NamedTuple):
    """Whether the answers to a correction were right, and the credit note that was issued by it."""

    is_right: bool
    issued_id: str = ""


class Visit(NamedTuple):
    """The process that is asked, and for how many seconds it is waited for."""

    port: int
    patience: float


class Person:
    """Signs in once and decides; each request may go to another process.

    The secrets that they are given or make are added to `heard`, each with what it is.
    """

    def __init__(
        self,
        *,
        email: str,
        password: str,
        address: str,
        passkey: SoftPasskey,
        heard: set[tuple[str, str]],
    ) -> None:
        self._sign_in = {"username": email, "password": password}
        self._address = address
        self._passkey = passkey
        self._heard = heard
        self._cookies: dict[str, str] = {}

    def sign_in(self, visit: Visit) -> None:
        self._cookies = {}
        page = self._ask(visit, "GET", "/sign-in")
        answer = self._ask(visit, "POST", "/sign-in", _fields(page) | self._sign_in)
        if answer.status != HTTPStatus.FOUND:
            raise UnheardError

    def decide(self, visit: Visit, approval_id: str, decision: str) -> bool:
        """Look at the page and decide; False where there was nothing to decide any more."""
        path = f"/approvals/{approval_id}"
        page = self._read(visit, path)
        fields = _fields(page)
        if "fingerprint" not in fields:
            return False
        signed = self._sign(visit, page) if decision == "approve" else {}
        asked = {**fields, "decision": decision, "reason": "", **signed}
        return self._ask(visit, "POST", path, asked).status == HTTPStatus.FOUND

    def correct(self, visit: Visit, document_id: str, percent: int) -> Correction:
        """Take back so much of what is left of an invoice; whoever is faster may leave nothing."""
        path = f"/documents/{document_id}"
        form = self._read(visit, f"{path}/correct")
        if form.location:
            return Correction(form.location == path)
        try:
            asked = {
                name: _share(text, percent) if name.startswith(QUANTITY) else text
                for name, text in _fields(form).items()
            }
        except ValueError:  # less than nothing is left
            return Correction(is_right=False)
        saved = self._ask(visit, "POST", f"{path}/correct", asked | {"correction_reason": "Less."})
        if saved.status != HTTPStatus.FOUND:
            return Correction(saved.status == HTTPStatus.UNPROCESSABLE_ENTITY)
        place = saved.location.partition("?")[0]
        path = f"{place}/issue"
        page = self._read(visit, path)
        issued = self._ask(visit, "POST", path, _fields(page) | self._sign(visit, page))
        if issued.status == HTTPStatus.FOUND:
            return Correction(is_right=True, issued_id=place.rpartition("/")[2])
        return Correction(issued.status == HTTPStatus.CONFLICT)

    def _sign(self, visit: Visit, page: Page) -> dict[str, str]:
        """Return what the page's script adds to the form, where the page asks for a passkey."""
        asked = SIGNING.search(page.text)
        if asked is None:
            return {}
        options = self._ask(visit, "POST", asked[1], _fields(page))
        if options.status != HTTPStatus.OK:  # decided, or issued, meanwhile
            return {}
        return self._assert(options.text)

    def _assert(self, options: str) -> dict[str, str]:
        """Sign what these options, as JSON, ask for."""
        assertion = self._passkey.sign(challenge_in(json.loads(options)["publicKey"]))
        self._heard.add(("an assertion", assertion))
        return {"assertion": assertion}

    def _read(self, visit: Visit, path: str) -> Page:
        page = self._ask(visit, "GET", path)
        if page.location.startswith("/sign-in"):
            self.sign_in(visit)
            raise UnheardError
        return page

    def _ask(
        self, visit: Visit, method: str, path: str, fields: Mapping[str, str] | None = None
    ) -> Page:
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
        return Page(response.status, page, response.getheader("Location", ""))

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
            self._heard.add(("a cookie", value))


def _fields(page: Page) -> dict[str, str]:
    return dict(FIELD.findall(page.text))


def _share(quantity: str, percent: int) -> str:
    share = parse_fixed_point(quantity) * percent // 100
    return avoid_grouping(format_fixed_point(share), decimals=DECIMALS)
