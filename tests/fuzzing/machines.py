"""What the state machines have in common: rows that are rolled back, a clock put forward."""

from datetime import UTC, datetime, timedelta

import time_machine
from django.core.cache import cache
from django.db import transaction
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from typing_extensions import override

from agent_access.connections import ConnectionRequest, create_connection
from agent_access.switches import turn_access
from agent_access.tools import registry
from agent_access.verification import find_breaks
from invoicing.access import Permission
from invoicing.models import User
from tests.agents import HttpAgent
from tests.factories import CompanyFactory, UserFactory
from tests.fuzzing.effort import tally, try_hard
from tests.mcp_agent import McpAgent

BEGINNING = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


class Machine(RuleBasedStateMachine):
    """Begins with a company whose access is on; what it does is undone, the time too."""

    @override
    def __init__(self) -> None:
        super().__init__()
        self._atomic = transaction.atomic()
        self._atomic._from_testcase = True  # type: ignore[attr-defined]  # the views require to be outermost
        self._atomic.__enter__()
        self._clock = time_machine.travel(BEGINNING, tick=False)
        self._travel = self._clock.start()
        self.owner: User = CompanyFactory.create().owner
        turn_access(on=True)
        self.begin()

    def begin(self) -> None:
        """Make what the machine needs."""

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    def wait(self, time: timedelta) -> None:
        self._travel.shift(time)

    @override
    def teardown(self) -> None:
        tally[type(self).__name__] += 1
        try:
            assert list(find_breaks()) == []
        finally:
            self._clock.stop()
            transaction.set_rollback(True)
            self._atomic.__exit__(None, None, None)
            cache.clear()

    def make_delegate(self) -> User:
        person: User = UserFactory.create(permissions=tuple(Permission))
        return person

    def lend(self, user: User) -> tuple[HttpAgent, HttpAgent]:
        """Return a new connection of the user, twice: over HTTP and over MCP."""
        request = ConnectionRequest(user=user, scopes=registry.scopes, days=30, name="Machine")
        _, credential = create_connection(request)
        return HttpAgent(credential), McpAgent(credential)


def run(machine: type[Machine], *, examples: int, steps: int) -> None:
    run_state_machine_as_test(machine, settings=try_hard(examples, stateful_step_count=steps))
