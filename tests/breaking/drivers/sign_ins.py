"""Programs that sign in by the owner's browser, and rotate their tokens through every failure."""

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from typing_extensions import override

from tests.breaking.drivers import sign_in_columns
from tests.breaking.drivers.desk import FORM, Desk, fields_of
from tests.breaking.drivers.driver import Driver, Found, Site
from tests.breaking.drivers.exchange import (
    Answer,
    LostError,
    UnsentError,
    exchange,
    through_the_proxy,
)
from tests.breaking.wire import HOST, LONGEST_PATIENCE_SECONDS

ADDRESS, RETURN_ADDRESS = "198.51.100.1", "https://client.example/callback"
RESOURCE = f"https://{HOST}/mcp"
SCOPE = "customers:read"
CREATED, OK = 201, 200
# How often a program rotates before it leaves, and how often what is done to it.
MOST_ROTATIONS = 6
CUT, DOUBLED, REUSED, ALLOWED_TWICE = 0.25, 0.1, 0.3, 0.25
LONGEST_CUT_SECONDS = 0.1


@dataclass
class Program:
    """A program with its tokens; `has_ended` once it was told that its sign-in is over."""

    client_id: str
    verifier: str
    access: str = ""
    refresh: str = ""
    spent: list[str] = field(default_factory=list)
    has_ended: bool = False


class SignIns(Driver):
    """Signs a program in, rotates its tokens some times, uses one twice at the end, or does not."""

    name = "sign-ins"

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self._owner = Desk(site, "owner", address=ADDRESS)
        self._acts_as = site.facts["staff"]["reader"]["pk"]
        self._numbers = count()
        self._pool = ThreadPoolExecutor(2)
        self._left: list[Program] = []

    @override
    def prepare(self) -> None:
        self._owner.come_in()

    @override
    def work(self) -> None:
        program = self._register()
        code = self._allow(program)
        self._exchange(program, code)
        for _ in range(self.chance.randint(1, MOST_ROTATIONS)):
            if not program.access or program.has_ended:
                break
            self._call(program)
            self._rotate(program)
        if program.access and not program.has_ended and self.chance.random() < REUSED:
            self._reuse(program)
        self._left.append(program)

    @override
    def settle(self) -> None:
        """See what still works: of those that ended nothing, of the others all."""
        for program in self._left:
            if program.access:
                self._call(program)
                if not program.has_ended:
                    self._present(program, {"refresh_token": program.refresh}, is_last=True)

    @override
    def close(self) -> None:
        self._pool.shutdown()
        super().close()

    @override
    def find(self, database: Any) -> Found:
        return sign_in_columns.find(self.diary.read(), sign_in_columns.read(database))

    @override
    def counts(self) -> Mapping[str, int]:
        return sign_in_columns.count(self.diary.read())

    def _register(self) -> Program:
        asked = {"client_name": "Rotating agent", "redirect_uris": [RETURN_ADDRESS]}
        while True:
            try:
                body, kind = json.dumps(asked).encode(), "application/json"
                answer = self._send("POST", "/oauth/register", body, kind=kind)
            except LostError:
                self.site.pause(0.2)
                continue
            if answer.status != CREATED:
                raise RuntimeError(f"A program was not registered: {answer.text}")
            verifier = f"{next(self._numbers):06}".rjust(64, "v")
            self.site.heard.add(("a verifier", verifier))
            return Program(json.loads(answer.text)["client_id"], verifier)

    def _allow(self, program: Program) -> str:
        """Have the owner allow it, however often the form must be sent; return the last code."""
        digest = hashlib.sha256(program.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": program.client_id,
            "redirect_uri": RETURN_ADDRESS,
            "scope": SCOPE,
            "state": "a state",
            "code_challenge": urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "resource": RESOURCE,
        }
        path = f"/oauth/authorize?{urlencode(query)}"
        page = self._owner.read(path)
        terms = {"decision": "allow", "acts_as": self._acts_as, "scopes": SCOPE}
        terms |= {"expires_in_days": "1"}
        is_twice = self.chance.random() < ALLOWED_TWICE
        while True:
            try:
                signed = self._owner.confirm(page)
                form = fields_of(page) | terms | signed
                self.diary.note("allowing", program=program.client_id)
                answer = self._owner.fetch("POST", path, form, cut=self._cut())
            except LostError:
                self.site.pause(0.2)
                continue
            if not answer.location:
                raise RuntimeError(f"A consent was answered {answer.status}")
            if not is_twice:
                return parse_qs(urlsplit(answer.location).query)["code"][0]
            is_twice = False

    def _exchange(self, program: Program, code: str) -> None:
        sent = {"code": code, "redirect_uri": RETURN_ADDRESS, "code_verifier": program.verifier}
        self._persist(program, sent)

    def _rotate(self, program: Program) -> None:
        program.spent.append(program.refresh)
        sent = {"refresh_token": program.refresh}
        if self.chance.random() < DOUBLED:
            beside = self._pool.submit(self._present, program, sent)
            self._present(program, sent)
            beside.result()
            program.has_ended = True  # one of both uses was the second
        else:
            self._persist(program, sent)

    def _reuse(self, program: Program) -> None:
        spent = [token for token in program.spent if token != program.refresh]
        if spent:
            self._persist(program, {"refresh_token": self.chance.choice(spent)}, is_kept=False)
            self._call(program)

    def _persist(self, program: Program, sent: dict[str, str], *, is_kept: bool = True) -> None:
        """Present a secret until it is answered, as a program does that was not written well."""
        cut = self._cut()
        while (pair := self._present(program, sent, cut=cut)) is None:
            self.site.pause(0.2)
            cut = None
        if pair and is_kept:
            program.access, program.refresh = pair["access_token"], pair["refresh_token"]

    def _present(
        self,
        program: Program,
        sent: dict[str, str],
        *,
        cut: float | None = None,
        is_last: bool = False,
    ) -> dict[str, Any] | None:
        """Make one attempt: return the tokens, nothing for a refusal, or None without an answer."""
        secret = sent.get("code") or sent["refresh_token"]
        self.site.heard.add(("a code or token", secret))
        grant = "authorization_code" if "code" in sent else "refresh_token"
        form = {"grant_type": grant, "client_id": program.client_id, "resource": RESOURCE}
        told = {"program": program.client_id, "secret": _digest(secret), "is_last": is_last}
        self.diary.note("presented", **told)
        try:
            body = urlencode(form | sent).encode()
            answer = self._send("POST", "/oauth/token", body, kind=FORM, cut=cut)
        except UnsentError:
            self.diary.note("unsent", **told)
            return None
        except LostError:
            self.diary.note("lost", **told)
            return None
        found: dict[str, Any] = json.loads(answer.text)
        tokens = {name: _digest(found[name]) for name in _TOKENS if name in found}
        self.diary.note(
            "answered", **told, status=answer.status, error=found.get("error", ""), **tokens
        )
        self.site.heard.update(("a token", found[name]) for name in _TOKENS if name in found)
        if answer.status == OK:
            return found
        program.has_ended = True
        return {}

    def _call(self, program: Program) -> None:
        """Call a tool with the access token until there is an answer."""
        headers = {"Authorization": f"Bearer {program.access}"}
        while True:
            self.diary.note("calling", program=program.client_id)
            try:
                answer = self._send("GET", "/api/v1/customers", None, headers=headers)
            except LostError:
                self.site.pause(0.2)
                continue
            told = {"program": program.client_id, "access_token": _digest(program.access)}
            self.diary.note("called", **told, status=answer.status)
            return

    def _send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        *,
        kind: str = "",
        headers: Mapping[str, str] | None = None,
        cut: float | None = None,
    ) -> Answer:
        sent = {**through_the_proxy(ADDRESS), **(headers or {})}
        if kind:
            sent["Content-Type"] = kind
        port = self.chance.choice(self.site.servers).port
        patience = LONGEST_PATIENCE_SECONDS
        return exchange(port, method, path, sent, body, patience=patience, cut=cut)[0]

    def _cut(self) -> float | None:
        is_cut = self.chance.random() < CUT
        return self.chance.uniform(0, LONGEST_CUT_SECONDS) if is_cut else None


_TOKENS = ("access_token", "refresh_token")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
