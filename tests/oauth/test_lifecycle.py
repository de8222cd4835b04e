"""Whatever happens in whatever order: a token works if, and only if, its connection lives."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest
from django.utils import timezone
from hypothesis import strategies
from hypothesis.stateful import invariant, precondition, rule
from typing_extensions import override

from agent_access.models import Connection
from agent_access.switches import turn_access, turn_sign_in
from invoicing.models import User
from tests.agents import Answer, HttpAgent
from tests.fuzzing.machines import Machine, run
from tests.oauth.programs import REFUSAL, Browser, Program, parameters_of
from tests.tool_table import SCOPES

# The rules are one set of conditional updates; test_revocation_matrix.py asks both databases.
pytestmark = pytest.mark.sqlite

# Small, so that the same one is often used twice.
ANY = strategies.integers(min_value=0, max_value=3)
THIEF = "the thief"
MINUTES = strategies.sampled_from([0, 0, 4, 5, 60, 23 * 60 + 30, 24 * 60])
SUBSETS = strategies.sampled_from([SCOPES, SCOPES[:1], SCOPES[1:3]])
CLIENTS: list[dict[str, Any]] = [{"client_id": client_id} for client_id in ("nobody", THIEF, None)]
FLAWS = strategies.sampled_from([*CLIENTS, {"resource": None}, {"grant_type": "password"}])


class Access(NamedTuple):
    token: str
    until: datetime
    scopes: tuple[str, ...]


@dataclass
class KnownConnection:
    """Its secrets, and whether it should live."""

    program: Program
    code: str
    code_until: datetime
    expires_at: datetime
    is_ended: bool = False
    access: list[Access] = field(default_factory=list)
    refresh: list[str] = field(default_factory=list)

    @property
    def is_code_used(self) -> bool:
        return bool(self.refresh)

    @property
    def is_live(self) -> bool:
        return not self.is_ended and timezone.now() < self.expires_at

    def keep(self, pair: dict[str, Any], scopes: tuple[str, ...]) -> None:
        until = min(timezone.now() + timedelta(hours=1), self.expires_at)
        assert pair["scope"] == " ".join(scopes)
        assert pair["expires_in"] == int((until - timezone.now()).total_seconds())
        self.access.append(Access(pair["access_token"], until, scopes))
        self.refresh.append(pair["refresh_token"])


class SignIn(Machine):
    @override
    def begin(self) -> None:
        self.delegate = self.make_delegate()
        self.connections: list[KnownConnection] = []
        self.switch_on()
        self.thief = self.register()
        self.allow(days=30)
        self.exchange(0)
        self.allow(days=1)

    @property
    def is_open(self) -> bool:
        return self.is_on and self.is_sign_in_on

    def register(self) -> Program:
        program = Program()
        uris = {"redirect_uris": [program.return_address]}
        program.client_id = program.post_json("/oauth/register", uris).body["client_id"]
        return program

    def find(self, which: int, token: int) -> tuple[KnownConnection, int]:
        """Return a connection whose code was used, and the place of one of its token pairs."""
        having = [known for known in self.connections if known.is_code_used]
        known = having[which % len(having)]
        return known, token % len(known.refresh)

    def assert_refused(
        self, answer: Answer, known: KnownConnection, *, is_reuse: bool, is_flawed: bool = False
    ) -> None:
        """A secret that was used ends its connection; one that was not stays as good as it was."""
        refusals = {400, 401} if is_flawed else {400}
        assert answer.status in (refusals if self.is_open else {404})
        known.is_ended = known.is_ended or (self.is_open and is_reuse)

    def name_thief(self, flaw: dict[str, Any]) -> dict[str, Any]:
        """Put another client that is known into the flaw, where it wants one."""
        is_theft = flaw.get("client_id") == THIEF
        return {"client_id": self.thief.client_id} if is_theft else flaw

    @precondition(lambda self: self.is_open and len(self.connections) < 3)
    @rule(days=strategies.sampled_from([1, 30]))
    def allow(self, days: int) -> None:
        program = self.register()
        path = program.authorize_path(scope=" ".join(SCOPES))
        answer = Browser(self.owner).allow(path, self.delegate, scopes=SCOPES, days=days)
        code, now = parameters_of(answer)["code"], timezone.now()
        code_until, expires_at = now + timedelta(minutes=5), now + timedelta(days=days)
        self.connections.append(KnownConnection(program, code, code_until, expires_at))

    @rule()
    def refuse(self) -> None:
        before, browser = Connection.objects.count(), Browser(self.owner)
        if self.is_open:
            answer = browser.send(self.register().authorize_path(), REFUSAL)
            assert parameters_of(answer)["error"] == "access_denied"
        else:
            path = Program(client_id="x").authorize_path()
            assert browser.allow(path, self.delegate).status_code == 404
        assert Connection.objects.count() == before

    @rule(which=ANY, after=MINUTES)
    def exchange(self, which: int, after: int = 0) -> None:
        self.wait(timedelta(minutes=after))
        known = self.connections[which % len(self.connections)]
        answer = known.program.exchange(known.code)
        is_good = known.is_live and not known.is_code_used and timezone.now() < known.code_until
        if self.is_open and is_good:
            assert answer.status == 200
            known.keep(answer.body, SCOPES)
        else:
            self.assert_refused(answer, known, is_reuse=known.is_code_used)

    @rule(which=ANY, flaw=FLAWS)
    def exchange_wrongly(self, which: int, flaw: dict[str, Any]) -> None:
        known = self.connections[which % len(self.connections)]
        answer = known.program.exchange(known.code, **self.name_thief(flaw))
        self.assert_refused(answer, known, is_reuse=known.is_code_used, is_flawed=True)

    @rule(which=ANY, token=ANY, scopes=SUBSETS, after=MINUTES)
    def refresh(self, which: int, token: int, scopes: tuple[str, ...], after: int) -> None:
        """Ask for all, or for less; whoever asked for less may have all again."""
        self.wait(timedelta(minutes=after))
        known, place = self.find(which, token)
        is_newest = place == len(known.refresh) - 1
        answer = known.program.refresh(known.refresh[place], scope=" ".join(scopes))
        if self.is_open and known.is_live and is_newest:
            assert answer.status == 200
            known.keep(answer.body, scopes)
        else:
            self.assert_refused(answer, known, is_reuse=not is_newest)

    @rule(which=ANY, token=ANY, flaw=FLAWS)
    def refresh_wrongly(self, which: int, token: int, flaw: dict[str, Any]) -> None:
        known, place = self.find(which, token)
        answer = known.program.refresh(known.refresh[place], **self.name_thief(flaw))
        is_reuse = place < len(known.refresh) - 1
        self.assert_refused(answer, known, is_reuse=is_reuse, is_flawed=True)

    @rule(which=ANY, token=ANY, is_access=strategies.booleans())
    def revoke(self, which: int, token: int, is_access: bool) -> None:  # noqa: FBT001  hypothesis passes by name
        known, place = self.find(which, token)
        presented = known.access[place].token if is_access else known.refresh[place]
        assert known.program.revoke(presented).status == (200 if self.is_open else 404)
        known.is_ended = known.is_ended or self.is_open

    @precondition(lambda self: not self.is_open)
    @rule()
    def switch_on(self) -> None:
        turn_access(on=True)
        turn_sign_in(on=True)
        self.is_on = self.is_sign_in_on = True

    @rule(ending=strategies.sampled_from(["sign-in", "access", "sessions", "activity", "time"]))
    def end(self, ending: str) -> None:
        """One rule for all, so that most sequences do not end before they have begun."""
        match ending:
            case "sign-in":
                turn_sign_in(on=False)
                self.is_sign_in_on = False
            case "access":
                turn_access(on=False)
                self.is_on = False
            case "activity":
                self.deactivate_for_a_while()
            case "time":
                self.wait(timedelta(days=30))
        if ending in {"sessions", "activity"}:
            self.delegate.session_revision += 1
            self.delegate.save()
        for each in self.connections:
            each.is_ended = True

    def deactivate_for_a_while(self) -> None:
        """The active flag is read on every use; the person comes back with new sessions."""
        User.objects.filter(pk=self.delegate.pk).update(is_active=False)
        for known in self.connections:
            for access in known.access:
                assert HttpAgent(access.token).call("tools.list").status in {401, 404}

    @invariant()
    def a_token_works_if_and_only_if_its_connection_lives(self) -> None:
        for known in self.connections:
            for access in known.access:
                agent = HttpAgent(access.token)
                expected = 401 if self.is_on else 404
                if self.is_on and known.is_live and timezone.now() < access.until:
                    expected = 200 if "customers:read" in access.scopes else 403
                assert agent.call("customers.search").status == expected
            for token in known.refresh[-1:]:
                assert HttpAgent(token).call("customers.search").status in {401, 404}

    @invariant()
    def an_ended_connection_says_why(self) -> None:
        for connection in Connection.objects.exclude(revoked_at=None):
            assert connection.revoked_reason != ""


@pytest.mark.django_db
@pytest.mark.requirement("sign_in.reuse", "revocation.sign_in_off")
def test_no_sequence_of_events_leaves_a_token_that_outlives_its_connection():
    run(SignIn, examples=15, steps=15)
