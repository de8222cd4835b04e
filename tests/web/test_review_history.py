"""What happened to a draft, in sentences, as far as its reader may know it."""

from datetime import timedelta
from typing import Any

import pytest

from agent_access.approvals import history
from agent_access.approvals.models import Decision
from agent_access.approvals.sightings import find_seen
from invoicing.access import Permission
from invoicing.document_approvals import read_updates_by_agents
from invoicing.models import Document
from invoicing.services.drafts import ConnectionRef, update_draft
from tests.approvals import A_MINUTE_LATER, PREPARED_AT, TEN_MINUTES_LATER, Prepared, prepare
from tests.factories import draft_input, line_input, make_draft, withdraw
from tests.plans import plans_of, prefer_indexes
from tests.web.reviews import path_of, read

AT_NINE = "March 2, 2026, 09:00 UTC"
A_MINUTE_PAST = "March 2, 2026, 09:01 UTC"
ELSEWHERE = "Ledger agent"


def history_on(desk: Any, path: str) -> list[str]:
    """Return the steps on a page, the newest first."""
    page = desk.get(path).content.decode()
    if '<ol class="timeline"' not in page:
        return []
    steps = page.split('<ol class="timeline"')[1].split("</ol>")[0].split("<li>")[1:]
    return [read(Answer(step)) for step in steps]


class Answer:
    """A piece of a page that reads as an answer does."""

    def __init__(self, piece: str) -> None:
        self.content = f"<main>{piece}</main>".encode()


def ask_again(prepared: Prepared, now: Any = A_MINUTE_LATER) -> Prepared:
    draft = Document.objects.get(pk=prepared.document.pk)
    maker = ConnectionRef(prepared.approval.connection_id, ELSEWHERE)
    return prepare(draft, user=prepared.user, connection=maker, now=now)


def test_a_request_says_how_it_came_here(desk, prepared):
    name = prepared.user.name
    assert history_on(desk, path_of(prepared)) == [
        f"{A_MINUTE_PAST} {name} wrote it",
        f"{AT_NINE} Ledger agent asked you to approve it",
    ]


def test_what_was_rejected_and_asked_again_stands_in_its_order(desk, prepared):
    prepared.decide(Decision.REJECTED, reason="Wrong price.", now=A_MINUTE_LATER)
    again = ask_again(prepared, A_MINUTE_LATER + timedelta(seconds=1))
    steps = [each.split("UTC ")[1] for each in history_on(desk, path_of(again))]
    assert steps[0] == "Ledger agent asked again, with nothing changed"
    assert "You rejected it: “ Wrong price. ”" in steps
    assert steps[-1] == "Ledger agent asked you to approve it"


def test_a_draft_that_was_saved_since_and_what_expired_are_told(desk, prepared, clock):
    draft = prepared.document
    changed = draft_input(draft.customer, line_input(), notes="Other.")
    clock.move_to(A_MINUTE_LATER + timedelta(minutes=1), tick=False)
    update_draft(prepared.user, draft.pk, changed, lock_version=1)
    clock.move_to(TEN_MINUTES_LATER, tick=False)
    again = ask_again(prepared, TEN_MINUTES_LATER)
    steps = [each.split("UTC ")[1] for each in history_on(desk, path_of(again))]
    assert steps == [
        "Ledger agent asked again, after a change",
        "The request expired before you decided",
        "The draft was saved as version 2",
        f"{prepared.user.name} wrote it",
        "Ledger agent asked you to approve it",
    ]


def test_what_was_approved_and_issued_is_told(desk, prepared):
    prepared.decide()
    prepared.execute()
    steps = [each.split("UTC ")[1] for each in history_on(desk, path_of(prepared))]
    assert {"Ledger agent issued it", "You approved it"} <= set(steps)


def test_what_agents_wrote_is_told_with_their_name(desk, agent, draft_body, clock):
    made = agent.call("drafts.create", draft_body, key="one").data
    changed = {**draft_body, "lock_version": 1}
    agent.call("drafts.update", changed, id=made["id"], key="two")
    steps = [each.split("UTC ")[1] for each in history_on(desk, f"/documents/{made['id']}")]
    person = Document.objects.get().created_by.name
    name = Document.objects.get().connection_name
    assert steps == [f"{name} changed the draft", f"{name} wrote the draft for {person}"]


def test_of_what_a_colleague_was_asked_nothing_is_told(desk, prepared, colleague, sign_in):
    theirs = prepare(prepared.document, user=colleague, now=A_MINUTE_LATER)
    theirs.decide(Decision.REJECTED, reason="Mine.", now=A_MINUTE_LATER)
    for path in (path_of(prepared), f"/documents/{prepared.document.pk}"):
        steps = " ".join(history_on(desk, path))
        assert steps.count("asked") == 1
        assert "Mine." not in steps
    assert "Mine." in " ".join(history_on(sign_in(colleague), path_of(theirs)))


def test_who_may_not_see_the_document_reads_no_history(desk, prepared, delegate):
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    assert history_on(desk, path_of(prepared)) == []


def test_what_is_asked_again_and_again_is_told_once(desk, prepared):
    *_, last = [ask_again(prepared) for _ in range(4)]
    steps = [each.split("UTC ")[1] for each in history_on(desk, path_of(last))]
    assert steps[0] == "Ledger agent asked again, with nothing changed (4 times)"
    assert len(steps) == 3


def test_a_long_history_ends(desk, prepared, monkeypatch):
    monkeypatch.setattr(history, "MOST_STEPS", 2)
    last = ask_again(prepared)
    assert len(history_on(desk, path_of(last))) == 2


def test_names_are_shown_as_what_they_are(desk, clock, delegate, customer):
    draft = make_draft(user=delegate, customer=customer)
    maker = ConnectionRef(prepare(draft, user=delegate).approval.connection_id, "<b>\u202eevil")
    asked = prepare(draft, user=delegate, connection=maker, now=PREPARED_AT)
    page = desk.get(path_of(asked)).content.decode().split('<ol class="timeline"')[1]
    assert "<b>" not in page
    assert "\u202e" not in page


@pytest.mark.postgresql  # SQLite names the index of a constraint otherwise
def test_the_past_of_a_draft_is_read_by_indexes(desk, prepared):
    desk.get(path_of(prepared))
    for _ in range(20):
        ask_again(prepared)
    prefer_indexes()
    seen = plans_of(lambda: find_seen(prepared.approval), where='FROM "agent_approvals_sighting"')
    assert "agent_approval_one_sighting" in seen
    document = prepared.document
    updates = plans_of(
        lambda: read_updates_by_agents(prepared.user, document), where='FROM "agent_access_receipt"'
    )
    assert "agent_access_receipt_of" in updates
