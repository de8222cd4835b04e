"""What agents did lately, read without a word of what they did it to."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from agent_access import errors
from agent_access.activity import (
    REASONS,
    connections_since,
    read_last_uses,
    read_refusals,
    read_writes,
    reason_of,
)
from agent_access.approvals.refusals import REFUSALS
from agent_access.connections import revoke_connection
from agent_access.models.connections import RevokedReason
from tests.plans import gather_statistics, plans_of, prefer_indexes

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def test_a_write_is_read_once_however_often_it_is_repeated(agent, connection, draft_body):
    since = timezone.now()
    made = [agent.call("drafts.create", draft_body, key="once").data for _ in range(2)]
    agent.call("documents.get", id=made[0]["id"])
    agent.call("drafts.create", draft_body, key="")
    [write] = read_writes([connection], since=since, most=9)
    assert (write.tool, str(write.record_id)) == ("drafts.create", made[0]["id"])
    assert write.connection == connection
    assert read_writes([connection], since=timezone.now() + HOUR, most=9) == []
    assert read_writes([], since=since, most=9) == []


def test_the_newest_writes_come_first(agent, connection, draft_body):
    made = [agent.call("drafts.create", draft_body, key=f"k{n}").data["id"] for n in range(3)]
    found = read_writes([connection], since=timezone.now() - HOUR, most=2)
    assert [str(each.record_id) for each in found] == made[:0:-1]


def test_refusals_are_counted_by_connection_tool_and_code(connect, delegate, draft_body):
    since = timezone.now()
    one, agent = connect(delegate)
    other, narrow = connect(delegate, scopes=["customers:read"])
    for _ in range(2):
        agent.call("documents.get", id=uuid4())
    agent.call("drafts.create", {}, key="k")
    narrow.call("documents.get", id=uuid4())
    narrow.call("tools.list")
    found = read_refusals([one.pk, other.pk], since=since)
    assert {(each.connection_id, each.tool, each.code, each.count) for each in found} == {
        (one.pk, "documents.get", "not_found", 2),
        (one.pk, "drafts.create", "validation_failed", 1),
        (other.pk, "documents.get", "forbidden", 1),
    }
    assert found[0].count == 2
    assert {each.connection_id for each in read_refusals([other.pk], since=since)} == {other.pk}
    assert read_refusals([one.pk], since=timezone.now() + HOUR) == []


@pytest.mark.postgresql  # whose statistics choose among indexes
def test_refusals_are_found_by_their_own_index(agent, connection):
    agent.call("documents.get", id=uuid4())
    gather_statistics()
    prefer_indexes()
    plans = plans_of(
        lambda: read_refusals([connection.pk], since=timezone.now() - HOUR), where="auditevent"
    )
    assert "agent_access_refused" in plans


def test_a_person_s_connections_are_those_that_were_usable_since(connect, delegate, colleague):
    held, revoked = (connect(delegate)[0] for _ in range(2))
    connect(colleague)
    revoke_connection(revoked.pk, reason=RevokedReason.OWNER_REVOKED)
    now = timezone.now()
    assert connections_since(delegate, now - HOUR) == [held, revoked]
    assert connections_since(delegate, now) == [held]
    assert connections_since(delegate, now + timedelta(days=31)) == []


def test_the_last_use_of_each_connection_is_read(connect, delegate):
    used, agent = connect(delegate)
    unused, _ = connect(delegate)
    agent.call("tools.list")
    uses = read_last_uses([used.pk, unused.pk])
    last = uses[used.pk]
    assert last is not None
    assert timezone.now() - last < HOUR
    assert uses[unused.pk] is None


def test_every_refusal_of_a_tool_has_a_reason_and_says_what_to_do():
    before_tools = {"method_not_allowed", "payload_too_large", "json_required"}
    kinds = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error")]
    codes = {each.code for each in (*kinds, *REFUSALS.values()) if hasattr(each, "code")}
    assert codes - REASONS.keys() <= before_tools
    assert all(each.words and each.advice for each in REASONS.values())
    assert (reason_of("unheard_of").words, reason_of("unheard_of").advice) == ("unheard_of", "")
