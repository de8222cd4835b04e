"""A kind that declares what it must and no more, of records with integers as keys."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import ImproperlyConfigured
from django.db import connection as database
from django.db import transaction
from django.test.utils import CaptureQueriesContext
from typing_extensions import override

from agent_access.approvals import engine, inbox
from agent_access.approvals.descriptions import describe_entries, describe_review
from agent_access.approvals.engine import Execution, Requester
from agent_access.approvals.errors import (
    ApprovalNotFoundError,
    ApprovalStateError,
    DecisionNotAllowedError,
)
from agent_access.approvals.fact_rows import Change
from agent_access.approvals.history import describe_history, describe_since
from agent_access.approvals.kinds import ApprovalKind, KindRegistry, Words
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.approvals.places import describe_decided
from agent_access.approvals.sightings import look_at
from agent_access.audit import SYSTEM
from agent_access.keys import to_key
from agent_access.tools import NoInput
from tests.clocks import at
from tests.factories import UserFactory, grant

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
MAKER = Requester(UUID(int=1), "Helper")


class RenameGroup(ApprovalKind[Group]):
    name = "groups.rename"
    model = Group
    words = Words(title="Rename a group", question="Rename this group?")
    scope = "groups:rename"
    permissions = ("invoices.manage",)

    @override
    def visible_to(self, user):
        return user.groups.all()

    @override
    def facts(self, target):
        # What JSON has no type for, and what a list or a set of keys becomes.
        return {"name": target.name, "parts": (1, None), "at": NOW, "of": UUID(int=target.pk)}

    @override
    def execute(self, approved, *, clock):
        approved.target.name += " (renamed)"
        approved.target.save()
        return {"name": approved.target.name}


KIND = RenameGroup()


@pytest.fixture(autouse=True)
def kinds(monkeypatch) -> KindRegistry:
    """Let the kind be the only one."""
    registered = KindRegistry()
    registered.register(KIND)
    for module in ("engine", "inbox", "descriptions", "history", "places", "views"):
        monkeypatch.setattr(f"agent_access.approvals.{module}.kinds", registered)
    return registered


@pytest.fixture(autouse=True)
def _nothing_stays(db: None) -> Iterator[None]:
    """Roll back before the database looks: its own approvals are all of documents."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def group() -> Group:
    return Group.objects.create(name="Editors")


@pytest.fixture
def person(group):
    person = UserFactory.create()
    grant(person, *KIND.permissions)
    person.groups.add(group)
    return person


def prepare(person, group, *, now=NOW):
    asked = NoInput()
    return engine.prepare(KIND, person, to_key(group.pk), asked, requester=MAKER, clock=at(now))


def decide(person, approval, decision=Decision.APPROVED, *, now=LATER):
    return engine.write_decision(
        person, approval.pk, decision=decision, fingerprint=approval.fingerprint, clock=at(now)
    )


def execute(person, approval, nonce, *, key="execute", now=LATER, maker=MAKER):
    execution = Execution(connection_id=maker.connection_id, nonce=nonce, key=key)
    return engine.execute(KIND, person, approval.pk, execution, clock=at(now)).approval


def read(person, approval, *, now=LATER):
    return engine.read_approval(inbox.visible_to(person), approval.pk, now=now)


def test_the_key_of_a_record_becomes_a_uuid_and_back(group):
    assert to_key(group.pk) == UUID(int=group.pk)
    assert KIND.pk_of(to_key(group.pk)) == group.pk
    assert KIND.find_many([to_key(group.pk), UUID(int=0)]) == {to_key(group.pk): group}


def test_it_is_prepared_approved_and_executed_once(person, group):
    snapshot, nonce = prepare(person, group)
    approval = snapshot.approval
    assert (approval.kind, approval.target) == ("groups.rename", UUID(int=group.pk))
    assert read(person, approval).state == "pending"
    assert [each.approval for each in inbox.read_cards(person, after=None, now=LATER)[0]] == [
        approval
    ]
    decide(person, approval)
    executed = execute(person, approval, nonce)
    group.refresh_from_db()
    assert group.name == "Editors (renamed)"
    assert execute(person, approval, nonce).result == executed.result
    with pytest.raises(ApprovalStateError, match="executed"):
        execute(person, approval, nonce, key="another")
    assert read(person, approval).state == "executed"


def test_facts_read_as_they_were_kept_whatever_the_kind_made_them_of(person, group):
    snapshot, _ = prepare(person, group)
    assert snapshot.prepared == snapshot.current
    assert snapshot.stale_fields == []
    assert snapshot.prepared["parts"] == [1, None]
    assert snapshot.prepared["at"] == "2026-03-02T09:00:00Z"


def test_a_page_tells_by_itself_what_differs_from_what_was_seen_and_what_happened(person, group):
    first, _ = prepare(person, group)
    assert describe_since(read(person, first.approval), person) is None
    look_at(first)
    group.name = "Writers"
    group.save()
    second = read(person, prepare(person, group)[0].approval)
    seen = describe_since(second, person)
    assert seen == {
        "heading": "Changed since you looked at it on March 2, 2026, 09:00 UTC",
        "is_rejected": False,
        "changes": [Change("Name", "Editors", "Writers")],
    }
    told = describe_history(KIND, group, to_key(group.pk), person, now=LATER)
    assert [each["sentence"] for each in told] == [
        "<bdi>Helper</bdi> asked again, after a change",
        "<bdi>Helper</bdi> asked you to approve it",
    ]


def test_what_was_decided_is_told_on_the_page_that_it_led_to(person, group):
    here, _ = prepare(person, group)
    other = Group.objects.create(name="Others")
    person.groups.add(other)
    decided, _ = prepare(person, other)
    decide(person, decided.approval)
    told = describe_decided(person, decided.approval.pk, here=read(person, here.approval))
    sentence = "You approved: <bdi>Rename a group</bdi>. The agent can do it until 09:10:00 UTC."
    assert told == {"href": f"/approvals/{decided.approval.pk}", "sentence": sentence}


def test_after_its_window_it_is_neither_decided_nor_executed(person, group):
    (first, _), (second, nonce) = prepare(person, group), prepare(person, group)
    decide(person, second.approval)
    end = NOW + KIND.window
    with pytest.raises(ApprovalStateError, match="expired"):
        decide(person, first.approval, now=end)
    with pytest.raises(ApprovalStateError, match="expired"):
        execute(person, second.approval, nonce, now=end)
    assert read(person, second.approval, now=end).state == "expired"


def test_what_changed_is_stale_and_says_where(person, group):
    snapshot, nonce = prepare(person, group)
    decide(person, snapshot.approval)
    Group.objects.update(name="Writers")
    found = read(person, snapshot.approval)
    assert (found.state, found.stale_fields) == ("stale", ["name"])
    told = describe_review(found, person)
    assert [(each.label, each.before, each.after) for each in told["changes"]] == [
        ("Name", "Editors", "Writers")
    ]
    with pytest.raises(ApprovalStateError, match="stale"):
        execute(person, snapshot.approval, nonce)


def test_a_record_out_of_reach_is_not_found_and_can_only_be_rejected(person, group):
    snapshot, nonce = prepare(person, group)
    approval = snapshot.approval
    person.groups.clear()
    with pytest.raises(ApprovalNotFoundError):
        prepare(person, group)
    with pytest.raises(ApprovalNotFoundError):
        read(person, approval)
    with pytest.raises(ApprovalNotFoundError):
        decide(person, approval)
    with pytest.raises(ApprovalNotFoundError):
        execute(person, approval, nonce)
    assert inbox.read_cards(person, after=None, now=LATER) == ([], None)
    assert decide(person, approval, Decision.REJECTED)[0].state == "rejected"


def test_who_lacks_the_permission_by_now_approves_nothing_and_may_reject(person, group):
    snapshot, _ = prepare(person, group)
    person.user_permissions.clear()
    with pytest.raises(DecisionNotAllowedError):
        decide(person, snapshot.approval)
    assert decide(person, snapshot.approval, Decision.REJECTED)[0].state == "rejected"


def test_another_person_connection_or_nonce_finds_nothing(person, group):
    snapshot, nonce = prepare(person, group)
    decide(person, snapshot.approval)
    other = UserFactory.create()
    other.groups.add(group)
    for who, with_nonce, maker in (
        (other, nonce, MAKER),
        (person, "wrong", MAKER),
        (person, nonce, Requester(UUID(int=2), "Another")),
    ):
        with pytest.raises(ApprovalNotFoundError):
            execute(who, snapshot.approval, with_nonce, maker=maker)


def test_another_kind_executes_none_of_its_requests(person, group, kinds):
    class Other(RenameGroup):
        name = "groups.close"

    kinds.register(Other())
    snapshot, nonce = prepare(person, group)
    decide(person, snapshot.approval)
    execution = Execution(connection_id=MAKER.connection_id, nonce=nonce, key="execute")
    with pytest.raises(ApprovalNotFoundError):
        engine.execute(Other(), person, snapshot.approval.pk, execution, clock=at(LATER))


class Unchanging(RenameGroup):
    """An act that changes no fact, so that nothing but the database tells that it was done."""

    @override
    def facts(self, target):
        return {"id": target.pk}


@pytest.mark.parametrize("happens_once", [True, False])
def test_what_happens_once_makes_other_approved_requests_for_the_record_stale(
    person, group, monkeypatch, kinds, happens_once
):
    monkeypatch.setattr(RenameGroup, "happens_once", happens_once)
    monkeypatch.setattr(RenameGroup, "facts", Unchanging.facts)
    (first, first_nonce), (second, second_nonce) = prepare(person, group), prepare(person, group)
    for each in (first, second):
        decide(person, each.approval)
    execute(person, first.approval, first_nonce)
    if happens_once:
        with pytest.raises(ApprovalStateError, match="stale"):
            execute(person, second.approval, second_nonce)
    else:
        execute(person, second.approval, second_nonce)
    assert ApprovalRequest.objects.exclude(executed_at=None).count() == 2 - happens_once


def test_requests_of_a_kind_that_no_app_registers_any_more_are_in_no_list(
    person, group, monkeypatch
):
    snapshot, _ = prepare(person, group)
    empty = KindRegistry()
    for module in ("engine", "inbox", "descriptions", "views"):
        monkeypatch.setattr(f"agent_access.approvals.{module}.kinds", empty)
    assert inbox.read_cards(person, after=None, now=LATER) == ([], None)
    assert inbox.read_others(person, before=None, now=LATER) == ([], None)
    everything = ApprovalRequest.objects.asked_of(person)
    with pytest.raises(ApprovalNotFoundError):
        engine.read_approval(everything, snapshot.approval.pk, now=LATER)
    with pytest.raises(ApprovalNotFoundError):
        decide(person, snapshot.approval)


def test_the_inbox_costs_the_same_whatever_its_length(person, group):
    def count() -> int:
        with CaptureQueriesContext(database) as captured:
            waiting, _ = inbox.read_cards(person, after=None, now=LATER)
            describe_entries(waiting, person)
        return len(captured)

    prepare(person, group)
    few = count()
    for _ in range(5):
        prepare(person, group)
    assert count() == few


@pytest.mark.parametrize("name", ["groups", "Groups.rename", "groups.re-name", f"a.{'b' * 99}"])
def test_a_kind_without_a_name_such_as_noun_and_verb_is_refused(name, kinds, monkeypatch):
    monkeypatch.setattr(RenameGroup, "name", name)
    with pytest.raises(ImproperlyConfigured, match=r"noun\.verb"):
        kinds.register(KIND)


def test_a_kind_is_registered_once(kinds):
    with pytest.raises(ImproperlyConfigured, match="registered twice"):
        kinds.register(KIND)


def test_what_no_kind_withdraws_is_not_withdrawn(person, group):
    snapshot, _ = prepare(person, group)
    decide(person, snapshot.approval)
    assert not describe_review(read(person, snapshot.approval), person)["may_withdraw"]
    with pytest.raises(DecisionNotAllowedError):
        engine.withdraw(person, snapshot.approval.pk, origin=SYSTEM, clock=at(LATER))


def test_a_kind_that_withdraws_and_leaves_all_as_it_was_is_a_fault(
    person, group, connection, monkeypatch
):
    maker = Requester(connection.id, connection.name)
    snapshot, _ = engine.prepare(
        KIND, person, to_key(group.pk), NoInput(), requester=maker, clock=at(NOW)
    )
    decide(person, snapshot.approval)
    monkeypatch.setattr(RenameGroup, "withdraw", lambda *_: None)
    assert describe_review(read(person, snapshot.approval), person)["may_withdraw"]
    with pytest.raises(RuntimeError, match="can still be executed"):
        engine.withdraw(person, snapshot.approval.pk, origin=SYSTEM, clock=at(LATER))
