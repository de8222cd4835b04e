"""A person with a browser of their own, beside a quickstart."""

import ssl
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, HTTPSHandler, Request, build_opener

from tests.breaking.person import FIELD


class Person:
    """Opens an address, signs in there, and approves what it shows."""

    def __init__(self, *, email: str, password: str, authority: Path) -> None:
        self._sign_in = {"username": email, "password": password}
        trust = ssl.create_default_context(cafile=authority)
        self._browser = build_opener(HTTPSHandler(context=trust), HTTPCookieProcessor(CookieJar()))

    def approve(self, review_url: str) -> None:
        page = self._open(review_url)
        if 'name="username"' in page:
            self._send(urljoin(review_url, "/sign-in"), page, **self._sign_in)
            page = self._open(review_url)
        page = self._send(review_url, page, decision="approve", reason="")
        assert "You approved this issue" in page

    def _open(self, url: str, form: str | None = None) -> str:
        request = Request(url, form.encode() if form else None, {"Referer": url})  # noqa: S310  always https
        with self._browser.open(request, timeout=60) as answer:
            text: str = answer.read().decode()
        return text

    def _send(self, url: str, page: str, **fields: str) -> str:
        return self._open(url, urlencode(dict(FIELD.findall(page)) | fields))
