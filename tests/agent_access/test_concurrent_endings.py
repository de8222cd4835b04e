"""Endings and calls at the same moment: what ends a connection ends it at once, and for good."""

import time
from collections.abc import Callable, Collection
from functools import partial
from threading import Event
from typing import Any

import pytest

from agent_access import audit, connections
from agent_access.models import AuditEvent, Connection, Receipt
from agent_access.models.audit import ADMINISTRATION
from agent_access.models.connections import RevokedReason
from agent_access.switches import turn_access
from agent_access.verification import find_breaks
from invoicing.models import Document
from tests.agents import HttpAgent
from tests.threads import PATIENCE_SECONDS, Encounter, run_together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("many_calls")]


@pytest.mark.requirement("revocation.stops_calls")
def test_no_call_succeeds_after_a_revocation(agent, connection, draft_body):
    under_way = Event()

    def call_until_refused(worker: int) -> list[tuple[float, int]]:
        calls = []
        for number in range(200):
            started = time.monotonic()
            if worker % 2:
                key = f"k{worker}-{number}"
                answer = HttpAgent(agent.credential).call("drafts.create", draft_body, key=key)
            else:
                answer = HttpAgent(agent.credential).call("tools.list")
            calls.append((started, answer.status))
            if answer.status == 401:
                return calls
            if number == 1:
                under_way.set()
        return calls

    def revoke() -> list[tuple[float, int]]:
        under_way.wait(PATIENCE_SECONDS)
        assert connections.revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
        return [(time.monotonic(), 0)]

    acts: list[Callable[[], list[tuple[float, int]]]] = [revoke]
    acts += [partial(call_until_refused, worker) for worker in range(6)]
    [(revoked, _)], *workers = run_together(acts)

    calls = [call for worker in workers for call in worker]
    successes = sum(status in {200, 201} for _, status in calls)
    assert {status for started, status in calls if started > revoked} <= {401}
    assert [worker[-1][1] for worker in workers] == [401] * 6
    ended = AuditEvent.objects.get(chain=ADMINISTRATION, action="connection:revoked").occurred_at
    done = AuditEvent.objects.filter(chain=str(connection.id), outcome="ok")
    assert done.count() == successes >= 2
    assert not done.filter(occurred_at__gt=ended).exists()
    created = done.filter(action="drafts.create").count()
    assert (Document.objects.count(), Receipt.objects.count()) == (created, created)
    assert list(find_breaks()) == []


def test_an_ending_of_one_and_of_all_never_wait_for_each_other(connect, delegate, monkeypatch):
    second = [connect(delegate)[0].id for _ in range(2)][1]
    close_chains, encounter = audit.close_chains, Encounter()

    def close_slowly(chains: Collection[str]) -> None:
        close_chains(chains)
        if list(chains) == [str(second)]:
            encounter.wait_here()

    def end_all() -> int:
        return encounter.come(lambda: turn_access(on=False))

    monkeypatch.setattr(audit, "close_chains", close_slowly)
    end_one = partial(connections.revoke_connection, second, reason=RevokedReason.OWNER_REVOKED)
    ended: list[int] = run_together([end_one, end_all])
    assert ended == [1, 1]
    assert not Connection.objects.filter(revoked_at=None).exists()
    assert list(find_breaks()) == []


@pytest.mark.requirement("revocation.access_off")
def test_a_connection_made_while_access_goes_off_does_not_outlive_it(
    access_on, delegate, monkeypatch
):
    """The switch is thrown between the look at it and the making of the connection."""
    check_request, encounter = connections._check_request, Encounter()

    def check_and_wait(*args: Any) -> Any:
        found = check_request(*args)
        encounter.wait_here()
        return found

    def make() -> int:
        request = connections.ConnectionRequest(
            user=delegate, scopes=["people:read"], days=1, name="Late"
        )
        connections.create_connection(request)
        return 0

    def switch_off() -> int:
        return encounter.come(lambda: turn_access(on=False))

    monkeypatch.setattr(connections, "_check_request", check_and_wait)
    made_and_ended: list[int] = run_together([make, switch_off])
    assert made_and_ended == [0, 1]
    assert not connections.live_connections().exists()
