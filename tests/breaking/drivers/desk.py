"""A person's browser that asks for pages and files, and goes away in the middle now and then."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from tests.breaking.drivers.driver import Site
from tests.breaking.drivers.exchange import Answer, LostError, exchange
from tests.breaking.person import FIELD, Person, UnheardError, Visit
from tests.breaking.wire import LONGEST_PATIENCE_SECONDS
from tests.passkeys import SoftPasskey

FORM = "application/x-www-form-urlencoded"
SIGNING = re.compile(r'data-signing="([^"]*)"')
LONGEST_PAUSE_SECONDS = 0.5


class Desk(Person):
    """One of the company's staff, by the name that the facts have for them."""

    def __init__(self, site: Site, who: str, *, address: str) -> None:
        own = site.facts["staff"][who]
        super().__init__(
            email=own["email"],
            password=own["password"],
            address=address,
            passkey=SoftPasskey.read(own["passkey"]),
            heard=site.heard,
        )
        self.pk: str = own["pk"]
        self._site = site
        self._choice = site.chance(f"desk of {who}")

    def come_in(self) -> None:
        """Sign in, for as long as it takes."""
        while True:
            try:
                return self.sign_in(Visit(self._port(), LONGEST_PATIENCE_SECONDS))
            except UnheardError:
                self.pause()

    def fetch(
        self,
        method: str,
        path: str,
        fields: Mapping[str, Any] | None = None,
        *,
        body: bytes | None = None,
        content_type: str = FORM,
        cut: float | None = None,
    ) -> Answer:
        """Make one attempt; raise LostError where no whole answer came."""
        if fields is not None:
            body = urlencode(fields, doseq=True).encode()
        headers = self._headers() | {"Content-Type": content_type}
        patience = LONGEST_PATIENCE_SECONDS
        answer, response = exchange(
            self._port(), method, path, headers, body, patience=patience, cut=cut
        )
        self._keep_cookies(response)
        if answer.location.startswith("/sign-in"):
            self.come_in()
            raise LostError
        return answer

    def read(self, path: str) -> Answer:
        """Return a page, asked for until it comes."""
        while True:
            try:
                return self.fetch("GET", path)
            except LostError:
                self.pause()

    def confirm(self, page: Answer) -> dict[str, str]:
        """Return what the page's script adds to its form, where it asks for the passkey."""
        asked = SIGNING.search(page.text)
        if asked is None:
            return {}
        return self._assert(self.fetch("POST", asked[1], fields_of(page)).text)

    def pause(self) -> None:
        self._site.pause(self._choice.uniform(0, LONGEST_PAUSE_SECONDS))

    def _port(self) -> int:
        return self._choice.choice(self._site.servers).port


def fields_of(page: Answer) -> dict[str, str]:
    """Return the fields of a page's form that have a value already."""
    return dict(FIELD.findall(page.text))
