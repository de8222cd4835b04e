"""Whatever happens in whatever order: a token works if, and only if, its connection lives."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
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

from agent_access.connections import turn_access_off, turn_access_on
from agent_access.models import Connection
from agent_access.oauth.switch import turn_sign_in_off, turn_sign_in_on
from invoicing.models import User
from tests.agents import HttpAgent
from tests.factories import CompanyFactory, UserFactory
from tests.oauth.programs import SCOPES, Browser, Program, parameters_of

ANY = strategies.integers(min_value=0, max_value=99)


@dataclass
class Lent:
    """What the test knows of a connection: its secrets, and whether it should live."""

    program: Program
    code: str
    expires_at: datetime
    is_ended: bool = False
    is_code_used: bool = False
    access: list[tuple[str, datetime]] = field(default_factory=list)
    refresh: list[str] = field(default_factory=list)

    def is_living(self) -> bool:
        return not self.is_ended and timezone.now() < self.expires_at

    def keep(self, pair: dict[str, Any]) -> None:
        self.access.append((pair["access_token"], timezone.now() + timedelta(hours=1)))
        self.refresh.append(pair["refresh_token"])


class SignIn(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.atomic = transaction.atomic()
        self.atomic._from_testcase = True  # type: ignore[attr-defined]  # the views demand to be outermost
        self.atomic.__enter__()
        self.clock = time_machine.travel(timezone.now(), tick=False)
        self.travel = self.clock.start()
        self.owner: User = CompanyFactory.create().owner
        self.delegate = UserFactory.create()
        self.lent: list[Lent] = []
        self.is_on = self.is_sign_in_on = True
        turn_access_on()
        turn_sign_in_on()

    @override
    def teardown(self) -> None:
        self.clock.stop()
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)
        cache.clear()

    @property
    def is_open(self) -> bool:
        return self.is_on and self.is_sign_in_on

    def end_all(self) -> None:
        for each in self.lent:
            each.is_ended = True

    @precondition(lambda self: self.is_open and len(self.lent) < 4)
    @rule(days=strategies.sampled_from([1, 30]))
    def allow(self, days: int) -> None:
        program = Program()
        uris = {"redirect_uris": [program.return_address]}
        program.client_id = program.post_json("/oauth/register", uris).body["client_id"]
        path = program.authorize_path(scope=" ".join(SCOPES))
        answer = Browser(self.owner).allow(path, self.delegate, scopes=SCOPES, days=days)
        expires_at = timezone.now() + timedelta(days=days)
        self.lent.append(Lent(program, parameters_of(answer)["code"], expires_at))

    @precondition(lambda self: self.lent)
    @rule(which=ANY)
    def exchange(self, which: int) -> None:
        lent = self.lent[which % len(self.lent)]
        answer = lent.program.exchange(lent.code)
        if not self.is_open:
            assert answer.status == 404
        elif lent.is_code_used:
            assert answer.status == 400
            lent.is_ended = True
        elif answer.status == 200:
            assert lent.is_living()
            lent.is_code_used = True
            lent.keep(answer.body)

    @precondition(lambda self: any(lent.refresh for lent in self.lent))
    @rule(which=ANY, token=ANY)
    def refresh(self, which: int, token: int) -> None:
        having = [lent for lent in self.lent if lent.refresh]
        lent = having[which % len(having)]
        presented = lent.refresh[token % len(lent.refresh)]
        answer = lent.program.refresh(presented)
        if not self.is_open:
            assert answer.status == 404
        elif presented != lent.refresh[-1]:
            assert answer.status == 400
            lent.is_ended = True
        else:
            assert answer.status == (200 if lent.is_living() else 400)
            if answer.status == 200:
                lent.keep(answer.body)

    @precondition(lambda self: any(lent.refresh for lent in self.lent))
    @rule(which=ANY, token=ANY, is_access=strategies.booleans())
    def revoke(self, which: int, token: int, is_access: bool) -> None:  # noqa: FBT001  hypothesis passes by name
        having = [lent for lent in self.lent if lent.refresh]
        lent = having[which % len(having)]
        place = token % len(lent.refresh)
        presented = lent.access[place][0] if is_access else lent.refresh[place]
        answer = lent.program.revoke(presented)
        assert answer.status == (200 if self.is_open else 404)
        lent.is_ended = lent.is_ended or self.is_open

    @rule(is_on=strategies.booleans())
    def switch_sign_in(self, is_on: bool) -> None:  # noqa: FBT001  as above
        if is_on:
            turn_sign_in_on()
        else:
            turn_sign_in_off()
            self.end_all()
        self.is_sign_in_on = is_on

    @rule(is_on=strategies.booleans())
    def switch_access(self, is_on: bool) -> None:  # noqa: FBT001  as above
        if is_on:
            turn_access_on()
        else:
            turn_access_off()
            self.end_all()
        self.is_on = is_on

    @rule(minutes=strategies.sampled_from([1, 5, 30, 60, 24 * 60, 30 * 24 * 60]))
    def wait(self, minutes: int) -> None:
        self.travel.shift(timedelta(minutes=minutes))

    @rule()
    def end_sessions(self) -> None:
        self.delegate.session_revision += 1
        self.delegate.save()
        self.end_all()

    @rule()
    def deactivate_and_activate(self) -> None:
        """The guest flag and this one are read on every use; what was used meanwhile has ended."""
        User.objects.filter(pk=self.delegate.pk).update(is_active=False)
        for lent in self.lent:
            for token, _ in lent.access:
                assert HttpAgent(token).call("tools.list").status in {401, 404}
        self.delegate.session_revision += 1
        self.delegate.save()
        self.end_all()

    @invariant()
    def a_token_works_if_and_only_if_its_connection_lives(self) -> None:
        for lent in getattr(self, "lent", []):
            works = [HttpAgent(token).call("tools.list").status for token, _ in lent.access]
            now = timezone.now()
            living = self.is_on and lent.is_living()
            hour = [living and now < min(until, lent.expires_at) for _, until in lent.access]
            assert [status == 200 for status in works] == hour
            for token in lent.refresh:
                assert HttpAgent(token).call("tools.list").status != 200

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
            max_examples=25,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        ),
    )
