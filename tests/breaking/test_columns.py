"""Every column counts what its name says, and nothing of a run in which all went well."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.breaking.columns import COLUMNS, find_all
from tests.breaking.evidence import Approval, Document, Event, Evidence, Receipt, Rest
from tests.breaking.journal import Operation, Testimony
from tests.breaking.wire import OK, Call, Reply

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NOTHING = dict.fromkeys(COLUMNS, 0)


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def issued(place: int) -> Document:
    """One invoice of the run: created, updated, and issued with the number of its place."""
    return Document(
        id=f"d{place}",
        connection_id="c",
        reference=f"r{place}",
        notes="Version 2",
        status="issued",
        lock_version=3,
        number=f"INV-2026-{place:04d}",
        series_id="s",
        series_value=place,
        issued_at=at(place),
        committed_at=at(place),
    )


def approval(place: int) -> Approval:
    return Approval(
        id=f"a{place}",
        connection_id="c",
        document_id=f"d{place}",
        lock_version=2,
        decision="approved",
        decided_at=at(0),
        expires_at=at(10),
        executed_at=at(place),
        execute_key=f"issue-{place}",
    )


def operation(tool: str, key: str, target: str, told: dict[str, Any]) -> Operation:
    call = Call(tool=tool, key=key, arguments={}, target=target)
    body = json.dumps({"data": told})
    return Operation("c", call, [Reply(outcome=OK, body=body, request_id=f"request of {key}")])


def operations(place: int) -> list[Operation]:
    document = {"id": f"d{place}", "reference": f"r{place}", "lock_version": 1, "notes": None}
    updated = document | {"lock_version": 2, "notes": "Version 2"}
    result = {"number": f"INV-2026-{place:04d}", "document": updated | {"lock_version": 3}}
    return [
        operation("drafts.create", f"create-{place}", "", document),
        operation("drafts.update", f"update-{place}", f"d{place}", updated),
        operation(
            "documents.issue_prepare", f"prepare-{place}", f"d{place}", {"approval_id": f"a{place}"}
        ),
        operation("documents.issue", f"issue-{place}", f"a{place}", result),
    ]


def event(of: Operation, place: int) -> Event:
    target = of.call.target or f"d{place}"
    return Event("c", of.call.tool, target, OK, "", of.replies[0].request_id)


def sound_run() -> tuple[Evidence, Testimony]:
    """Return what two invoices leave behind in the database and in the log."""
    places = (1, 2)
    done = [(place, each) for place in places for each in operations(place)]
    evidence = Evidence(
        documents=[issued(place) for place in places],
        approvals=[approval(place) for place in places],
        receipts=[Receipt("c", each.call.key, each.call.tool, f"d{n}", 200) for n, each in done],
        events=[
            *(event(each, place) for place, each in done),
            *(Event("c", "approval:approved", f"a{n}", OK, "", "page") for n in places),
        ],
        series={"s": 2},
    )
    told = Testimony(
        operations={("c", each.call.key): each for _, each in done},
        decisions={f"a{place}": "approve" for place in places},
    )
    return evidence, told


def with_document(**facts: Any) -> dict[str, Any]:
    return {"documents": [issued(1), issued(2)._replace(**facts)]}


def with_approval(**facts: Any) -> dict[str, Any]:
    return {"approvals": [approval(1), approval(2)._replace(**facts)]}


SOUND, _ = sound_run()
COPY = issued(2)._replace(id="d3", number=None, lock_version=1)
CREDIT_NOTE = issued(1)._replace(id="n", number="CN-1", series_id="cn")
ANOTHER_NUMBER = {"number": "INV-2026-0001", "series_value": 1}
# What is wrong in the database, and which columns count it how often.
WRONG = {
    "nothing": ({}, {}),
    "a draft twice": (
        {"documents": [issued(1), issued(2), COPY]},
        {"duplicates": 1, "ghosts": 1},
    ),
    "an update twice": (
        with_document(lock_version=4),
        {"duplicates": 1, "issues without approval": 1},
    ),
    "an approval twice": (
        {"approvals": [approval(1), approval(2), approval(2)._replace(id="a3", decision="")]},
        {"duplicates": 1, "ghosts": 1},
    ),
    "a number left out": ({"series": {"s": 3}}, {"gaps": 1}),
    "a number twice": (with_document(**ANOTHER_NUMBER), {"repeats": 1, "gaps": 1, "losses": 1}),
    "an invoice gone": ({"documents": [issued(1)], "series": {"s": 1}}, {"losses": 3}),
    "an update gone": (with_document(notes="Another"), {"losses": 1}),
    "issued after a rejection": (
        with_approval(decision="rejected"),
        {"issues without approval": 1, "losses": 1, "audit orphans": 2},
    ),
    "issued too late": (with_approval(executed_at=at(10)), {"issues without approval": 1}),
    "issued in another version": (with_approval(lock_version=1), {"issues without approval": 1}),
    "a receipt gone": ({"receipts": SOUND.receipts[1:]}, {"losses": 1, "audit orphans": 1}),
    # The act, and the answer to the client.
    "the event of a call gone": ({"events": SOUND.events[1:]}, {"audit orphans": 2}),
    "the event of a decision gone": ({"events": SOUND.events[:-1]}, {"audit orphans": 1}),
    "a broken chain": ({"breaks": ["c 7: an event is missing here"]}, {"audit breaks": 1}),
    "a credit note with its event": ({"corrections": [CREDIT_NOTE], "by_hand": ["n"]}, {}),
    "a credit note without its event": (
        {"corrections": [CREDIT_NOTE]},
        {"credit notes without their event": 1},
    ),
    "two events of a credit note": (
        {"corrections": [CREDIT_NOTE], "by_hand": ["n", "n"]},
        {"credit notes without their event": 1},
    ),
    "more taken back than there was": (
        {"rests": [Rest("invoice INV-2026-0001", 0), Rest("line 7", -1)]},
        {"overdrawn invoices": 1},
    ),
    "issued without the signature that was demanded": (
        {"unsigned": ["INV-2026-0001"]},
        {"unsigned numbers": 1},
    ),
    "committed too early": (with_document(committed_at=at(0)), {"numbers out of order": 1}),
    "dated too early": (with_document(issued_at=at(0)), {"numbers out of order": 1}),
}


@pytest.mark.parametrize(("changed", "counted"), WRONG.values(), ids=WRONG)
def test_a_column_counts_what_the_database_has_wrong(changed, counted):
    evidence, told = sound_run()
    assert count(replace(evidence, **changed), told) == NOTHING | counted


def test_a_column_counts_what_clients_were_told_wrong():
    evidence, told = sound_run()
    told.operations["c", "issue-2"] = replace(told.operations["c", "issue-2"], replies=[])
    told.operations["c", "create-1"].replies.append(Reply(outcome="conflict", request_id="page"))
    told.surprises.append("an answer that the interface does not allow")
    told.corrections.append("n")
    assert count(evidence, told) == NOTHING | {
        "ghosts": 2,
        "calls never answered": 1,
        "diverging replays": 1,
        "wrong answers": 1,
        "credit notes lost": 1,
    }


def count(evidence: Evidence, told: Testimony) -> dict[str, int]:
    return {name: len(cases) for name, cases in find_all(evidence, told).items()}
