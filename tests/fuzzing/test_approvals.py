"""Approvals as a model has them: the table of states, walked in any order."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from typing_extensions import override

from agent_access.approvals.errors import ApprovalStateError
from agent_access.approvals.models import Decision
from invoicing.access import Permission
from invoicing.models import Customer, Document, User
from tests.agents import Answer
from tests.factories import CustomerFactory, grant, make_draft, withdraw
from tests.fuzzing.effort import PLAYED
from tests.fuzzing.machines import Machine, run
from tests.interface.issuing import decide, execute, prepare

pytestmark = PLAYED

KEYS = st.sampled_from(["a", "b", "c"])
TRANSPORTS = st.integers(0, 1)
WHICH = st.integers(0, 3)
MINUTES = st.sampled_from([1, 9, 10])
# The first two undo the others: what is as it was prepared is not stale any more.
CHANGES = ({"name": "Acme"}, {"is_active": True}, {"name": "Acme Ltd"}, {"is_active": False})
CODES = {
    "pending": (409, "approval_pending"),
    "rejected": (409, "approval_rejected"),
    "expired": (410, "approval_expired"),
    "stale": (409, "approval_stale"),
    "executed": (409, "approval_used"),
}

# What an approval is about, as far as this machine changes it: the version of the draft and the
# customer's name and activity.
Facts = tuple[int, str, bool]


@dataclass
class Asked:
    """What the model knows of an approval."""

    told: dict[str, Any]
    draft: int
    facts: Facts
    expires_at: datetime
    decision: str = ""
    is_executed: bool = False

    def state(self, facts: Facts, now: datetime) -> str:
        """Return the first that holds: executed, rejected, expired, stale, approved, pending."""
        if self.is_executed:
            return "executed"
        if self.decision == "rejected":
            return "rejected"
        if now >= self.expires_at:
            return "expired"
        if facts != self.facts:
            return "stale"
        return self.decision or "pending"


@dataclass
class Drafted:
    """What the model knows of a document."""

    id: str
    lock_version: int = 1
    number: str | None = None


class Approvals(Machine):
    @override
    def begin(self) -> None:
        self.user: User = self.make_delegate()
        self.agents = self.lend(self.user)
        self.strangers = self.lend(self.make_delegate())
        self.customer: Customer = CustomerFactory.create(name="Acme")
        self.drafts = [
            Drafted(str(make_draft(user=self.user, customer=self.customer).id)) for _ in range(2)
        ]
        self.asked: list[Asked] = []
        self.receipts: dict[str, tuple[tuple[str, ...], bytes]] = {}
        self.issued = 0
        self.may_issue = True
        self.prepare(0, 0, "a", 0)

    def facts(self, draft: int) -> Facts:
        return self.drafts[draft].lock_version, self.customer.name, self.customer.is_active

    def state(self, asked: Asked) -> str:
        return asked.state(self.facts(asked.draft), self.now)

    def find(self, which: int) -> Asked:
        return self.asked[which % len(self.asked)]

    def expect(self, answer: Answer, call: tuple[str, ...], key: str) -> bool:
        """Hold an answer to permission and receipt; return whether they let the call through."""
        if not self.may_issue:
            assert (answer.status, answer.code) == (403, "forbidden")
        elif key in self.receipts and self.receipts[key][0] != call:
            assert (answer.status, answer.code) == (409, "conflict")
        elif key in self.receipts:
            assert answer.content == self.receipts[key][1]
            assert answer.headers["Idempotent-Replayed"] == "true"
        else:
            assert "Idempotent-Replayed" not in answer.headers
            return True
        return False

    @rule(draft=st.integers(0, 1), stale=st.sampled_from([0, 0, 0, 1]), key=KEYS, by=TRANSPORTS)
    def prepare(self, draft: int, stale: int, key: str, by: int) -> None:
        found, version = self.drafts[draft], self.drafts[draft].lock_version + stale
        answer = prepare(self.agents[by], found.id, lock_version=version, key=f"prepare-{key}")
        call = ("prepare", found.id, str(version))
        if not self.expect(answer, call, f"prepare-{key}"):
            return
        if stale or found.number or not self.customer.is_active:
            assert (answer.status, answer.code) == (409, "conflict")
            return
        assert (answer.status, answer.data["status"]) == (202, "pending")
        expires_at = self.now + timedelta(minutes=10)
        self.asked.append(Asked(answer.data, draft, self.facts(draft), expires_at))
        self.receipts[f"prepare-{key}"] = (call, answer.content)

    @rule(which=WHICH, decision=st.sampled_from(["approved", "approved", "rejected"]))
    def decide(self, which: int, decision: str) -> None:
        asked = self.find(which)
        # Saying No needs no permission; it takes an approval that waits, as Yes does.
        if self.state(asked) != "pending":
            with pytest.raises(ApprovalStateError):
                decide(asked.told, Decision(decision))
        elif self.may_issue or decision == "rejected":
            alike = [each for each in self.asked if each.draft == asked.draft]
            waiting = [each for each in alike if self.state(each) == "pending"]
            decide(asked.told, Decision(decision))
            # A No is said to all that wait by which the connection asks for the same.
            for each in waiting if decision == "rejected" else [asked]:
                each.decision = decision

    @rule(which=WHICH, key=KEYS, by=TRANSPORTS)
    def execute(self, which: int, key: str, by: int) -> None:
        asked = self.find(which)
        answer = execute(self.agents[by], asked.told, key=f"execute-{key}")
        call = ("execute", asked.told["approval_id"])
        if not self.expect(answer, call, f"execute-{key}"):
            return
        state = self.state(asked)
        if state != "approved":
            assert (answer.status, answer.code) == CODES[state]
            return
        assert answer.status == 200
        asked.is_executed = True
        self.receipts[f"execute-{key}"] = (call, answer.content)
        self.note_issue(self.drafts[asked.draft], answer)

    def note_issue(self, draft: Drafted, answer: Answer) -> None:
        self.issued += 1
        draft.number = f"INV-2026-{self.issued:04d}"
        draft.lock_version += 1
        assert answer.data["number"] == answer.data["document"]["number"] == draft.number

    @rule(which=WHICH, by=TRANSPORTS, is_stranger=st.booleans())
    def execute_wrongly(self, which: int, by: int, is_stranger: bool) -> None:  # noqa: FBT001  hypothesis passes by name
        """Another connection, or a wrong nonce, finds nothing, whatever the state."""
        agent = (self.strangers if is_stranger else self.agents)[by]
        nonce = None if is_stranger else "wrong"
        answer = execute(agent, self.find(which).told, key="wrong", nonce=nonce)
        may = is_stranger or self.may_issue
        assert (answer.status, answer.code) == ((404, "not_found") if may else (403, "forbidden"))

    @rule(draft=st.integers(0, 1))
    def edit(self, draft: int) -> None:
        """Write the draft as it stands: only its version moves, unless it is issued."""
        found = self.drafts[draft]
        told = self.agents[0].call("documents.get", id=found.id).data
        names = ("customer_id", "currency_code", "issue_date", "due_date", "line_items")
        lines = [
            {name: line[name] for name in ("description", "quantity", "unit_price")}
            for line in told["line_items"]
        ]
        body = {name: told[name] for name in names} | {"line_items": lines}
        body["lock_version"] = found.lock_version
        key = f"edit-{found.id}-{self.now.timestamp():.0f}-{found.lock_version}"
        answer = self.agents[1].call("drafts.update", body, id=found.id, key=key)
        if not self.customer.is_active:
            assert answer.status == 422
        elif found.number:
            assert (answer.status, answer.code) == (409, "conflict")
        else:
            found.lock_version += 1
            assert answer.data["lock_version"] == found.lock_version

    @rule(change=st.sampled_from(CHANGES))
    def change_customer(self, change: dict[str, Any]) -> None:
        for name, value in change.items():
            setattr(self.customer, name, value)
        self.customer.save(update_fields=[*change])

    @rule(minutes=MINUTES)
    def pass_time(self, minutes: int) -> None:
        self.wait(timedelta(minutes=minutes))

    @rule(which=WHICH, key=KEYS, by=TRANSPORTS)
    def try_without_permission(self, which: int, key: str, by: int) -> None:
        """Take the permission to issue away for a while: it ends nothing, and is read each time."""
        self.turn_permission()
        self.prepare(which % 2, 0, key, by)
        self.decide(which, "approved")
        self.execute(which, key, by)
        self.the_service_tells_what_the_model_has()
        self.turn_permission()

    def turn_permission(self) -> None:
        (withdraw if self.may_issue else grant)(self.user, Permission.FINALIZE)
        self.may_issue = not self.may_issue

    @invariant()
    def the_service_tells_what_the_model_has(self) -> None:
        for asked in self.asked:
            answer = self.agents[0].call("approvals.get", id=asked.told["approval_id"])
            if not self.may_issue:
                assert answer.code == "forbidden"
                continue
            assert answer.data["status"] == self.state(asked)
            is_different = self.facts(asked.draft) != asked.facts and not asked.is_executed
            assert bool(answer.data["stale_fields"]) == is_different

    @invariant()
    def numbers_are_given_once_and_without_gaps(self) -> None:
        numbers = dict(Document.objects.values_list("id", "number"))
        assert {str(id_): number for id_, number in numbers.items()} == {
            draft.id: draft.number for draft in self.drafts
        }


@pytest.mark.django_db
@pytest.mark.requirement("approval.execute", "approval.expires", "approval.becomes_stale")
def test_approvals_are_what_a_model_of_them_is():
    run(Approvals, examples=10, steps=16)
