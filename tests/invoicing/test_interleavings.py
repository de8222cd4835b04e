"""Every pair of these acts, held at every statement: as if one had followed the other."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from invoicing.access import Permission
from invoicing.administration.people import change_person, digest_person
from invoicing.administration.records import change_record
from invoicing.decisions import issue_by_hand
from invoicing.errors import InvoicingError
from invoicing.models import Customer
from invoicing.services.drafts import ConnectionRef
from invoicing.services.record_changes import digest_record
from tests.administration import ORIGIN, acting
from tests.approvals import fingerprint_draft, prepare
from tests.factories import CustomerFactory, UserFactory, make_draft, make_issued
from tests.interleaving import Act, Interleaving

pytestmark = [
    pytest.mark.postgresql,  # SQLite has one writer
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("many_calls"),
]

NAMES = (
    "an agent makes a draft",
    "an agent moves the draft",
    "an agent issues the draft",
    "the person issues another draft",
    "the customer gets a new name",
    "the person is sent away under a new address",
)
HELD = NAMES[:5]
SENT_AWAY = NAMES[5]
# How the acts of the person, and of agents for the person, are refused once they are sent away.
REFUSED = dict.fromkeys(NAMES[:3], "unauthenticated") | {NAMES[3]: "PermissionMissingError"}


def answer_of(act: Callable[[], Any]) -> str:
    try:
        act()
    except InvoicingError as refusal:
        return type(refusal).__name__
    return "done"


@pytest.fixture
def acts(connect, owner, draft_body) -> dict[str, Act]:
    rights = (Permission.VIEW_DOCUMENT, Permission.MANAGE, Permission.FINALIZE)
    person = UserFactory.create(permissions=rights)
    customer, other = (CustomerFactory.create(account_managers=[person]) for _ in range(2))
    connection, agent = connect(person)
    make_issued(user=person, customer=customer)  # of a series that has begun
    draft, another = (make_draft(user=person, customer=customer) for _ in range(2))
    now = timezone.now()
    prepared = prepare(
        draft, user=person, connection=ConnectionRef(connection.id, "Agent"), now=now
    )
    prepared.decide(now=now)
    seen, seen_person = digest_record(customer), digest_person(person)

    def call(tool: str, arguments: dict[str, Any], **target: Any) -> str:
        answer = agent.call(tool, arguments, key=tool.replace(".", "-"), **target)
        return str(answer.body.get("error", {}).get("code", "done"))

    body = draft_body | {"customer_id": str(customer.id)}
    moved = body | {"customer_id": str(other.id), "lock_version": 1}
    nonce = {"nonce": prepared.nonce}
    away = {"is_active": False, "email": "away@halden.example"}
    shown: dict[str, Any] = {"fingerprint": fingerprint_draft(another), "origin": ORIGIN}
    anybody = {"is_allowed": lambda _: True}
    rename = partial(
        change_record, acting(owner), lambda _: Customer.objects.all(), customer.pk, seen=seen
    )
    made = (
        partial(call, "drafts.create", body),
        partial(call, "drafts.update", moved, id=draft.pk),
        partial(call, "documents.issue", nonce, id=prepared.approval.pk),
        partial(answer_of, partial(issue_by_hand, person, another.pk, **shown)),
        partial(answer_of, partial(rename, {"name": "Zeta Ltd"}, **anybody)),
        partial(
            answer_of, partial(change_person, acting(owner), person.pk, away, seen=seen_person)
        ),
    )
    return dict(zip(NAMES, made, strict=True))


@pytest.fixture
def between(acts) -> Iterator[Interleaving]:
    interleaving = Interleaving(acts)
    yield interleaving
    interleaving.end()


@pytest.mark.requirement(
    "error.stale_update", "issue.numbers_and_freezes", "revocation.stops_calls"
)
@pytest.mark.parametrize("first", HELD)
def test_whatever_comes_between_its_statements_one_act_follows_the_other(between, first):
    """And nothing is committed by or for a person who was sent away."""
    for second in (name for name in NAMES if name != first):
        in_turn = between.after(first, second), between.after(second, first)
        for place, outcome, is_overtaken in between.at_each_statement(first, second):
            assert outcome in in_turn, f"at statement {place}, beside: {second}"
            if first in REFUSED and second == SENT_AWAY and is_overtaken:
                assert outcome.answers[first] == REFUSED[first], f"at statement {place}"
