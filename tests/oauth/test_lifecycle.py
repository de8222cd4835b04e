"""Whatever happens in whatever order: a token works if, and only if, its connection lives."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings, strategies
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from typing_extensions import override

from agent_access.models import Connection
from agent_access.switches import turn_access, turn_sign_in
from invoicing.access import Permission
from invoicing.models import User
from tests.agents import HttpAgent
from tests.factories import CompanyFactory, UserFactory
from tests.oauth.connections import KnownConnection
from tests.oauth.programs import Browser, Program, parameters_of
from tests.tool_table import SCOPES

# The rules are one set of conditional updates; test_revocation_matrix.py asks both databases.
pytestmark = pytest.mark.sqlite

# Small, so that the same one is often used twice.
ANY = strategies.integers(min_value=0, max_value=3)
THIEF = "the thief"
MINUTES = strategies.sampled_from([0, 0, 4, 5, 60, 23 * 60 + 30, 24 * 60])
SUBSETS = strategies.sampled_from([SCOPES, SCOPES[:1], SCOPES[1:3]])
FLAWS: list[dict[str, Any]] = [
    {"client_id": "nobody"},
    {"client_id": THIEF},
    {"client_id": None},
    {"resource": None},
    {"grant_type": "password"},
]


class SignIn(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.atomic = transaction.atomic()
        self.atomic._from_testcase = True  # type: ignore[attr-defined]  # the views require to be outermost
        self.atomic.__enter__()
        self.clock = time_machine.travel(timezone.now(), tick=False)
        self.travel = self.clock.start()
        self.owner: User = CompanyFactory.create().owner
        self.delegate = UserFactory.create(permissions=tuple(Permission))
        self.connections: list[KnownConnection] = []
        self.is_on = self.is_sign_in_on = True
        turn_access(on=True)
        turn_sign_in(on=True)
        self.thief = self.register()
        self.allow(days=30)
        self.exchange(0)
        self.allow(days=1)

    @override
    def teardown(self) -> None:
        self.clock.stop()
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)
        cache.clear()

    @property
    def is_open(self) -> bool:
        return self.is_on and self.is_sign_in_on

    def register(self) -> Program:
        program = Program()
        uris = {"redirect_uris": [program.return_address]}
        program.client_id = program.post_json("/oauth/register", uris).body["client_id"]
        return program

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
        now = timezone.now()
        code = parameters_of(answer)["code"]
        until = now + timedelta(minutes=5)
        self.connections.append(
            KnownConnection(program, code, until, expires_at=now + timedelta(days=days))
        )

    @precondition(lambda self: self.is_open)
    @rule()
    def refuse(self) -> None:
        before = Connection.objects.count()
        path = self.register().authorize_path()
        answer = Browser(self.owner).send(path, {"decision": "refuse"})
        assert parameters_of(answer)["error"] == "access_denied"
        assert Connection.objects.count() == before

    @precondition(lambda self: not self.is_open)
    @rule()
    def ask_while_it_is_off(self) -> None:
        before = Connection.objects.count()
        path = Program(client_id="x").authorize_path()
        assert Browser(self.owner).allow(path, self.delegate).status_code == 404
        assert Connection.objects.count() == before

    @precondition(lambda self: self.connections)
    @rule(which=ANY, after=MINUTES)
    def exchange(self, which: int, after: int = 0) -> None:
        self.travel.shift(timedelta(minutes=after))
        known = self.connections[which % len(self.connections)]
        answer = known.program.exchange(known.code)
        if not self.is_open:
            assert answer.status == 404
        elif known.is_code_used:
            assert answer.status == 400
            known.is_ended = True
        elif known.is_live() and timezone.now() < known.code_until:
            assert answer.status == 200
            known.is_code_used = True
            known.keep(answer.body, SCOPES)
        else:
            assert answer.status == 400

    @precondition(lambda self: self.connections)
    @rule(which=ANY, flaw=strategies.sampled_from(FLAWS))
    def exchange_wrongly(self, which: int, flaw: dict[str, Any]) -> None:
        """A code that was used ends its connection; one that was not stays as good as it was."""
        known = self.connections[which % len(self.connections)]
        answer = known.program.exchange(known.code, **self.name_thief(flaw))
        assert answer.status in ({400, 401} if self.is_open else {404})
        known.is_ended = known.is_ended or (self.is_open and known.is_code_used)

    @precondition(lambda self: any(known.refresh for known in self.connections))
    @rule(which=ANY, token=ANY, scopes=SUBSETS, after=MINUTES)
    def refresh(self, which: int, token: int, scopes: tuple[str, ...], after: int) -> None:
        """Ask for all, or for less; whoever asked for less may have all again."""
        self.travel.shift(timedelta(minutes=after))
        having = [known for known in self.connections if known.refresh]
        known = having[which % len(having)]
        presented = known.refresh[token % len(known.refresh)]
        answer = known.program.refresh(presented, scope=" ".join(scopes))
        if not self.is_open:
            assert answer.status == 404
        elif presented != known.refresh[-1]:
            assert answer.status == 400
            known.is_ended = True
        else:
            assert answer.status == (200 if known.is_live() else 400)
            if answer.status == 200:
                known.keep(answer.body, scopes)

    @precondition(lambda self: any(known.refresh for known in self.connections))
    @rule(which=ANY, token=ANY, flaw=strategies.sampled_from(FLAWS))
    def refresh_wrongly(self, which: int, token: int, flaw: dict[str, Any]) -> None:
        having = [known for known in self.connections if known.refresh]
        known = having[which % len(having)]
        presented = known.refresh[token % len(known.refresh)]
        answer = known.program.refresh(presented, **self.name_thief(flaw))
        assert answer.status in ({400, 401} if self.is_open else {404})
        known.is_ended = known.is_ended or (self.is_open and presented != known.refresh[-1])

    @precondition(lambda self: any(known.refresh for known in self.connections))
    @rule(which=ANY, token=ANY, is_access=strategies.booleans())
    def revoke(self, which: int, token: int, is_access: bool) -> None:  # noqa: FBT001  hypothesis passes by name
        having = [known for known in self.connections if known.refresh]
        known = having[which % len(having)]
        place = token % len(known.refresh)
        presented = known.access[place].token if is_access else known.refresh[place]
        answer = known.program.revoke(presented)
        assert answer.status == (200 if self.is_open else 404)
        known.is_ended = known.is_ended or self.is_open

    @precondition(lambda self: not self.is_open)
    @rule()
    def switch_on(self) -> None:
        turn_access(on=True)
        turn_sign_in(on=True)
        self.is_on = self.is_sign_in_on = True

    @rule(
        ending=strategies.sampled_from(
            ["sign_in_off", "access_off", "sessions", "deactivation", "time"]
        )
    )
    def end(self, ending: str) -> None:
        """One rule for all, so that most sequences do not end before they have begun."""
        getattr(self, f"end_by_{ending}")()
        for each in self.connections:
            each.is_ended = True

    def end_by_sign_in_off(self) -> None:
        turn_sign_in(on=False)
        self.is_sign_in_on = False

    def end_by_access_off(self) -> None:
        turn_access(on=False)
        self.is_on = False

    def end_by_sessions(self) -> None:
        self.delegate.session_revision += 1
        self.delegate.save()

    def end_by_deactivation(self) -> None:
        """The active flag is read on every use; the person comes back with new sessions."""
        User.objects.filter(pk=self.delegate.pk).update(is_active=False)
        for known in self.connections:
            for access in known.access:
                assert HttpAgent(access.token).call("tools.list").status in {401, 404}
        self.end_by_sessions()

    def end_by_time(self) -> None:
        self.travel.shift(timedelta(days=30))

    @invariant()
    def a_token_works_if_and_only_if_its_connection_lives(self) -> None:
        for known in getattr(self, "connections", []):
            for access in known.access:
                agent = HttpAgent(access.token)
                expected = 401 if self.is_on else 404
                if self.is_on and known.is_live() and timezone.now() < access.until:
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
    run_state_machine_as_test(
        SignIn,
        settings=settings(
            max_examples=40,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        ),
    )
