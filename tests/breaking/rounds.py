"""What a client does again and again: from the first draft to the issued invoice, and astray."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.breaking.caller import Caller
from tests.breaking.wire import OK, Call, Reply

PENDING, REJECTED = "approval_pending", "approval_rejected"
STALE, USED = "approval_stale", "approval_used"


class RoundOverError(Exception):
    """An answer that the interface does not allow here; it is in the journal."""


@dataclass
class Client:
    """One agent with its connection and its person, and how many calls and rounds it made."""

    name: str
    caller: Caller
    customers: Sequence[str]
    tax_rate: str
    rounds: int = 0
    _numbers: "count[int]" = field(default_factory=count)

    def run_round(self) -> None:
        """Take one draft as far as it comes."""
        self.rounds += 1
        try:
            self._run(f"{self.name}-{self.rounds}")
        except RoundOverError as error:
            self.caller.journal.note_surprise(str(error))

    def _run(self, reference: str) -> None:
        habits = self.caller.habits
        draft = self._ask("drafts.create", self._draft(reference))
        while self._happens(habits.updated):
            draft = self._update(draft)
        approval = self._prepare(draft)
        early = self._execute(approval, PENDING) if self._happens(habits.executed_early) else None
        # An attempt without an answer may be under way still, and would issue what is approved now.
        is_under_way = early is not None and early.retries > 0
        if is_under_way or self._happens(habits.rejected):
            self.caller.decide(approval["approval_id"], "reject")
            self._execute(approval, REJECTED)
            return
        self.caller.decide(approval["approval_id"], "approve")
        if self._happens(habits.changed_after_approval):
            draft = self._update(draft)
            self._execute(approval, STALE)
            approval = self._prepare(draft)
            self.caller.decide(approval["approval_id"], "approve")
        self._issue(approval)
        while self._happens(habits.corrected):
            self._correct(approval["document_id"])

    def _correct(self, document_id: str) -> None:
        beside = [self.caller.correct] if self._happens(1 / 2) else []
        waiting = [self.caller.pool.submit(correct, document_id) for correct in beside]
        self.caller.correct(document_id)
        for each in waiting:
            each.result()

    def _issue(self, approval: dict[str, Any]) -> None:
        habits = self.caller.habits
        if self._happens(habits.rivalled):
            self._execute_twice(approval)
            return
        self._execute(approval, OK)
        if self._happens(habits.executed_again):
            self._execute(approval, USED)

    def _execute_twice(self, approval: dict[str, Any]) -> None:
        """Execute with two keys at once: one issues, the other is told that it did."""
        one, other = self._execution(approval), self._execution(approval)
        beside = self.caller.pool.submit(self.caller.call, other)
        outcomes = {self.caller.call(one).outcome, beside.result().outcome}
        if outcomes != {OK, USED}:
            raise RoundOverError(f"{approval['approval_id']} executed by two keys gave {outcomes}")

    def _execute(self, approval: dict[str, Any], expected: str) -> Reply:
        call = self._execution(approval)
        reply = self.caller.call(call)
        if reply.outcome != expected:
            raise RoundOverError(f"{call.key} executed to {reply.outcome} and not to {expected}")
        return reply

    def _execution(self, approval: dict[str, Any]) -> Call:
        nonce = {"nonce": approval["nonce"]}
        return self._make("documents.issue", nonce, target=approval["approval_id"])

    def _prepare(self, draft: dict[str, Any]) -> dict[str, Any]:
        version = {"lock_version": draft["lock_version"]}
        return self._ask("documents.issue_prepare", version, target=draft["id"])

    def _update(self, draft: dict[str, Any]) -> dict[str, Any]:
        version = int(draft["lock_version"])
        body = self._draft(draft["reference"]) | {
            "lock_version": version,
            "notes": f"Version {version + 1}",
        }
        return self._ask("drafts.update", body, target=draft["id"])

    def _ask(self, tool: str, arguments: dict[str, Any], *, target: str = "") -> dict[str, Any]:
        call = self._make(tool, arguments, target=target)
        reply = self.caller.call(call)
        if reply.outcome != OK:
            raise RoundOverError(f"{call.key} ({tool}) was answered {reply.outcome}")
        return reply.data

    def _make(self, tool: str, arguments: dict[str, Any], *, target: str = "") -> Call:
        key = f"{self.name}-{next(self._numbers)}"
        return Call(tool=tool, key=key, arguments=arguments, target=target)

    def _draft(self, reference: str) -> dict[str, Any]:
        line = {
            "description": "Consulting",
            "quantity": str(self.caller.chance.randint(1, 9)),
            "unit_price": "12500",
            "tax_rate_id": self.tax_rate,
        }
        return {
            "customer_id": self.caller.chance.choice(self.customers),
            "currency_code": "EUR",
            "issue_date": "2026-03-02",
            "due_date": "2026-04-01",
            "line_items": [line] * self.caller.chance.randint(1, 5),
            "reference": reference,
        }

    def _happens(self, likelihood: float) -> bool:
        return self.caller.chance.random() < likelihood
