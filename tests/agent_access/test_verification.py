"""The proof of the audit: whoever changes it past the triggers is named."""

from collections.abc import Callable
from copy import copy
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from agent_access import audit, verification
from agent_access.audit import OPERATOR, Fact, Origin, digest_event
from agent_access.models import AuditEvent, ChainHead
from agent_access.models.audit import ADMINISTRATION, Transport
from agent_access.verification import Break, Part, Position, find_breaks, prove, read_heads
from tests.agent_access.tampering import past_triggers, rewrite_chain, run_sql

EVENTS = "agent_access_auditevent"
HEADS = "agent_access_chainhead"

MISSING = "an event is missing here"
CHANGED = "this event was changed or moved, or follows one that was"
BEHIND_HEAD = "the head of the chain is not at its last event"
HEAD_GONE = "the head of the chain is missing"
REWRITTEN = "the chain is not the one whose head was kept elsewhere"

ANOTHER_ID = UUID("0190f1f0-0000-7000-8000-000000000000")


@pytest.fixture
def chain(agent, connection) -> str:
    """A chain of four events; each test ends with breaks in no other chain."""
    for _ in range(4):
        assert agent.call("tools.list").status == 200
    assert list(find_breaks()) == []
    return str(connection.id)


def remove(chain: str, where: str = "TRUE") -> None:
    assert run_sql(f"DELETE FROM {EVENTS} WHERE chain = %s AND {where}", chain)  # noqa: S608  our own names


def remove_head(chain: str) -> None:
    assert run_sql(f"DELETE FROM {HEADS} WHERE chain = %s", chain)  # noqa: S608  our own names


def add_event(chain: str, sequence: int, *, like: int, **values: Any) -> None:
    added = AuditEvent.objects.get(chain=chain, sequence=like)
    added.pk, added.sequence = ANOTHER_ID, sequence
    for name, value in values.items():
        setattr(added, name, value)
    added.save(force_insert=True)


def move_events(chain: str, *moves: tuple[int, int]) -> None:
    for old, new in moves:
        change_event(chain, old, sequence=new)


def change_event(chain: str, sequence: int, /, **values: Any) -> None:
    with past_triggers():
        assert AuditEvent.objects.filter(chain=chain, sequence=sequence).update(**values) == 1


# For every column of an event but its place: another value.
CHANGES: dict[str, Any] = {
    "id": ANOTHER_ID,
    "occurred_at": datetime(2026, 3, 2, tzinfo=UTC),
    "actor_id": ANOTHER_ID,
    "connection_id": ANOTHER_ID,
    "action": "documents.list",
    "target": "x",
    "outcome": "forbidden",
    "detail": "replayed",
    "transport": "command",
    "request_id": "",
    "client_address": "192.0.2.1",
    "digest": "0" * 64,
    "content_digest": "0" * 64,
}


@pytest.mark.parametrize("sequence", [1, 3, 4])
def test_a_changed_column_is_named(chain, subtests, monkeypatch, sequence):
    monkeypatch.setattr(verification, "BATCH_SIZE", 2)
    for column, value in CHANGES.items():
        with subtests.test(column=column), transaction.atomic():
            change_event(chain, sequence, **{column: value})
            assert list(find_breaks()) == [Break(chain, sequence, CHANGED)]
            transaction.set_rollback(True)


def test_every_column_of_an_event_is_proved():
    columns = {field.attname for field in AuditEvent._meta.fields}
    assert columns == {*CHANGES, "chain", "sequence"}


def test_what_was_written_once_is_proved_for_good():
    """The text that is hashed of an event, literally: whatever is added leaves it as it is."""
    event = AuditEvent(
        id=ANOTHER_ID,
        chain=ADMINISTRATION,
        sequence=7,
        occurred_at=datetime(2026, 3, 2, 9, 30, 41, 123456, tzinfo=UTC),
        actor_id=ANOTHER_ID,
        action="connection:created",
        target="Zoë",
        outcome="ok",
        transport="command",
    )
    hashed = (
        f'["{"0" * 64}","{ANOTHER_ID}","administration",7,"2026-03-02T09:30:41.123456Z",'
        f'"{ANOTHER_ID}",null,"connection:created","Zoë","ok","","command","",""]'
    )
    assert digest_event(event, previous_digest="0" * 64) == sha256(hashed.encode()).hexdigest()

    # What came later stands last, by its name, and only in events that have it.
    event.content_digest = "1" * 64
    hashed = f'{hashed[:-1]},{{"content_digest":"{"1" * 64}"}}]'
    assert digest_event(event, previous_digest="0" * 64) == sha256(hashed.encode()).hexdigest()


def test_a_digest_of_content_is_proved_as_every_fact_is(chain):
    """Each way to append writes it: in one statement or in steps, and for administration."""
    fact = Fact(
        action="x.y",
        origin=Origin(transport=Transport.HTTP),
        connection_id=UUID(chain),
        content_digest="1" * 64,
    )
    with transaction.atomic():
        audit.record_call(fact)
        audit.record_decisions([fact])
        audit.record_act("x.y", OPERATOR, content_digest="2" * 64)
    kept = AuditEvent.objects.filter(action="x.y").order_by("content_digest", "sequence")
    assert list(kept.values_list("chain", "content_digest")) == [
        (chain, "1" * 64),
        (chain, "1" * 64),
        (ADMINISTRATION, "2" * 64),
    ]
    assert list(find_breaks()) == []
    change_event(chain, 5, content_digest=None)
    assert list(find_breaks()) == [Break(chain, 5, CHANGED)]


def close_the_gap(chain: str) -> None:
    remove(chain, "sequence = 2")
    move_events(chain, (3, 2), (4, 3))


def put_between(chain: str) -> None:
    move_events(chain, (4, 5), (3, 4))
    add_event(chain, 3, like=2)


TAMPERINGS: dict[str, tuple[Callable[[str], None], int, str]] = {
    "a fact moved to the next column": (
        lambda chain: change_event(chain, 2, target="ok", outcome=""),
        2,
        CHANGED,
    ),
    "the first removed": (lambda chain: remove(chain, "sequence = 1"), 1, MISSING),
    "one removed": (lambda chain: remove(chain, "sequence = 2"), 2, MISSING),
    "the last removed": (lambda chain: remove(chain, "sequence = 4"), 4, MISSING),
    "one removed and its gap closed": (close_the_gap, 2, CHANGED),
    "all removed": (remove, 1, MISSING),
    "one added": (lambda chain: add_event(chain, 5, like=4), 5, CHANGED),
    "one put between two others": (put_between, 3, CHANGED),
    "another order": (lambda chain: move_events(chain, (2, 9), (3, 2), (9, 3)), 2, CHANGED),
    "the head removed": (remove_head, 0, HEAD_GONE),
}


@pytest.mark.parametrize(
    ("tamper", "sequence", "problem"), TAMPERINGS.values(), ids=TAMPERINGS.keys()
)
def test_what_was_done_to_a_chain_is_named(chain, tamper, sequence, problem):
    tamper(chain)
    assert list(find_breaks()) == [Break(chain, sequence, problem)]


def test_an_added_event_with_the_right_digest_is_behind_no_head(chain):
    last = AuditEvent.objects.get(chain=chain, sequence=4)
    forged = copy(last)
    forged.pk, forged.sequence = ANOTHER_ID, 5
    digest = digest_event(forged, previous_digest=last.digest)
    add_event(chain, 5, like=4, digest=digest)
    assert list(find_breaks()) == [Break(chain, 5, BEHIND_HEAD)]


def test_a_chain_under_another_name_is_named(chain):
    for table in (EVENTS, HEADS):
        run_sql(f"UPDATE {table} SET chain = %s WHERE chain = %s", str(ANOTHER_ID), chain)  # noqa: S608  our own names
    assert list(find_breaks()) == [
        Break(str(ANOTHER_ID), 1, CHANGED),
        Break(chain, 0, HEAD_GONE),
    ]


def test_breaks_in_several_chains_are_all_named(chain):
    """The chain of administration is known by its events, too."""
    change_event(chain, 1, outcome="forbidden")
    remove_head(ADMINISTRATION)
    assert list(find_breaks()) == [Break(chain, 1, CHANGED), Break(ADMINISTRATION, 0, HEAD_GONE)]


def test_an_event_with_its_digest_made_anew_is_named_by_the_next(chain):
    change_event(chain, 2, outcome="forbidden")
    first, second = AuditEvent.objects.filter(chain=chain).order_by("sequence")[:2]
    change_event(chain, 2, digest=digest_event(second, previous_digest=first.digest))
    assert list(find_breaks()) == [Break(chain, 3, CHANGED)]


def test_an_event_moved_to_another_chain_is_named_in_both(chain):
    end = ChainHead.objects.get(chain=ADMINISTRATION).sequence
    change_event(chain, 4, chain=ADMINISTRATION, sequence=end + 1)
    assert list(find_breaks()) == [
        Break(chain, 4, MISSING),
        Break(ADMINISTRATION, end + 1, CHANGED),
    ]


@pytest.mark.parametrize(
    ("values", "sequence", "problem"),
    [
        ({"digest": "0" * 64}, 4, BEHIND_HEAD),
        ({"digest": ""}, 4, BEHIND_HEAD),
        ({"sequence": 3}, 4, BEHIND_HEAD),
        ({"sequence": 0, "digest": ""}, 4, BEHIND_HEAD),
        ({"sequence": 5}, 5, MISSING),
    ],
    ids=str,
)
def test_a_changed_head_is_named(chain, values, sequence, problem):
    ChainHead.objects.filter(chain=chain).update(**values)
    assert list(find_breaks()) == [Break(chain, sequence, problem)]


def test_a_chain_begins_with_one(chain):
    with pytest.raises(IntegrityError), transaction.atomic():
        add_event(chain, 0, like=1)


@pytest.mark.sqlite  # where alone the constraint can be left out
def test_an_event_put_before_the_first_is_named(chain):
    run_sql("PRAGMA ignore_check_constraints = ON")
    try:
        add_event(chain, 0, like=1)
    finally:
        run_sql("PRAGMA ignore_check_constraints = OFF")
    assert list(find_breaks()) == [Break(chain, 0, CHANGED)]


def test_a_chain_rewritten_as_a_whole_is_named_by_a_head_kept_elsewhere(chain):
    kept = read_heads()
    change_event(chain, 2, outcome="forbidden")
    rewrite_chain(chain)
    assert list(find_breaks()) == []
    assert list(find_breaks(kept)) == [Break(chain, 4, REWRITTEN)]


def test_a_chain_cut_short_with_its_head_is_named_by_a_head_kept_elsewhere(chain):
    kept = read_heads()
    remove(chain, "sequence > 2")
    rewrite_chain(chain)
    assert list(find_breaks()) == []
    assert list(find_breaks(kept)) == [Break(chain, 3, MISSING)]


def test_a_chain_removed_without_a_trace_is_named(chain):
    kept = read_heads()
    remove(chain)
    remove_head(chain)
    assert list(find_breaks()) == list(find_breaks(kept)) == [Break(chain, 0, HEAD_GONE)]


def test_a_head_kept_earlier_still_proves_the_longer_chain(chain, agent):
    kept = read_heads()
    agent.call("tools.list")
    assert list(find_breaks(kept)) == []
    assert read_heads()[chain].sequence == 5


@pytest.mark.parametrize("looks", [["_walk"], ["_read_head"], ["_walk", "_read_head"]], ids=str)
def test_calls_during_the_proof_break_nothing(agent, connection, monkeypatch, looks):
    """A call commits before each of the proof's first looks, the connection's very first too."""
    left = iter(range(3))

    def call_first(look: Any) -> Any:
        def look_later(chain: str, *args: Any) -> Any:
            if chain == str(connection.id) and next(left, None) is not None:
                agent.call("tools.list")
            return look(chain, *args)

        return look_later

    for name in looks:
        monkeypatch.setattr(verification, name, call_first(getattr(verification, name)))
    assert list(find_breaks()) == []
    assert read_heads()[str(connection.id)].sequence > 0


@pytest.fixture
def short_blocks(monkeypatch) -> None:
    monkeypatch.setattr(verification, "BLOCK_SIZE", 2)


def prove_in_parts(count: int, expected: Any = None) -> list[Break]:
    """Return the breaks that all parts together find, each once."""
    parts = [prove(expected, part=Part(number + 1, count)) for number in range(count)]
    return sorted({each for proof in parts for each in proof.breaks}, key=str)


@pytest.mark.parametrize("count", [2, 3])
def test_all_parts_together_prove_what_one_run_does(chain, agent, short_blocks, subtests, count):
    agent.call("tools.list")
    assert prove_in_parts(count, read_heads()) == []
    for sequence in (2, 3, 5):
        with subtests.test(changed=sequence), transaction.atomic():
            change_event(chain, sequence, digest="0" * 64)
            assert min(prove_in_parts(count), key=place) == Break(chain, sequence, CHANGED)
            transaction.set_rollback(True)
        with subtests.test(removed=sequence), transaction.atomic():
            remove(chain, f"sequence = {sequence}")
            assert min(prove_in_parts(count), key=place) == Break(chain, sequence, MISSING)
            transaction.set_rollback(True)


def place(found: Break) -> int:
    return found.sequence


def test_each_event_is_in_one_part(chain, agent, short_blocks):
    """A changed fact, whose digest stays, is found by the part of its block alone."""
    agent.call("tools.list")
    change_event(chain, 4, detail="x")
    found = [bool(prove(part=Part(number, 3)).breaks) for number in (1, 2, 3)]
    assert found == [False, True, False]


def test_events_behind_the_head_are_found_in_parts(chain, short_blocks):
    ChainHead.objects.filter(chain=chain).update(sequence=1)
    assert [each.problem for each in prove_in_parts(2)] == [BEHIND_HEAD]


@pytest.mark.parametrize("count", [2, 3])
def test_a_kept_head_is_compared_in_parts(chain, short_blocks, count):
    kept = read_heads()
    change_event(chain, 2, outcome="forbidden")
    rewrite_chain(chain)
    assert prove_in_parts(count) == []
    assert prove_in_parts(count, kept) == [Break(chain, 4, REWRITTEN)]
    remove(chain, "sequence > 2")
    rewrite_chain(chain)
    assert prove_in_parts(count, kept) == [Break(chain, 3, MISSING)]


def test_a_later_run_goes_on_where_an_earlier_one_ended(chain, agent):
    proved = prove().ends
    agent.call("tools.list")
    change_event(chain, 2, detail="x")
    assert prove(since=proved).breaks == []
    assert prove(since=proved).ends == read_heads()
    change_event(chain, 5, detail="x")
    assert prove(since=proved).breaks == [Break(chain, 5, CHANGED)]


def test_where_an_earlier_run_ended_has_to_be_there(chain):
    proved = prove().ends
    rewritten = proved | {chain: Position(4, "0" * 64)}
    assert prove(since=rewritten).breaks == [Break(chain, 4, REWRITTEN)]
    remove(chain, "sequence = 4")
    assert prove(since=proved).breaks == [Break(chain, 4, MISSING)]


def test_the_ends_are_those_that_were_proved(chain, agent, monkeypatch):
    """An event that is written later is not behind the next run's beginning."""
    read_head = verification._read_head

    def call_later(name: str) -> Any:
        head = read_head(name)
        if name == ADMINISTRATION:  # the last chain
            agent.call("tools.list")
        return head

    monkeypatch.setattr(verification, "_read_head", call_later)
    assert prove().ends[chain].sequence == 4
