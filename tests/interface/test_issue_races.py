"""Agents that execute at once, over HTTP; SQLite lets one write at a time."""

from collections import Counter
from typing import Any

import pytest
from django.db import connection

from agent_access.approvals.models import ApprovalRequest
from agent_access.models import AuditEvent, Receipt
from agent_access.verification import find_breaks
from invoicing.models import Document, NumberSeries
from tests.interface.issuing import decide, execute, prepare
from tests.threads import THREADS, in_threads

pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("many_calls"),
]


def approve(agent, body, number: int) -> Any:
    """Make, prepare and approve one draft; return what preparing answered."""
    draft = agent.call("drafts.create", body, key=f"draft-{number}").data
    prepared = prepare(agent, draft["id"], key=f"prepare-{number}").data
    decide(prepared)
    return prepared


@pytest.mark.requirement("approval.identical_retry")
def test_twenty_calls_with_one_key_get_one_number_and_the_same_bytes(agent, draft_body):
    prepared = approve(agent, draft_body, 1)

    answers = in_threads(lambda _: execute(agent, prepared, key="one"), range(THREADS))

    assert {(answer.status, answer.content) for answer in answers} == {(200, answers[0].content)}
    assert Counter("Idempotent-Replayed" in answer.headers for answer in answers) == {
        False: 1,
        True: THREADS - 1,
    }
    assert NumberSeries.objects.get().last_value == 1
    assert Receipt.objects.filter(tool="documents.issue").count() == 1


@pytest.mark.requirement("approval.other_key", "error.approval_used")
def test_of_twenty_calls_with_twenty_keys_one_succeeds(agent, draft_body):
    prepared = approve(agent, draft_body, 1)

    answers = in_threads(lambda key: execute(agent, prepared, key=f"key-{key}"), range(THREADS))

    codes = Counter("ok" if each.status == 200 else each.code for each in answers)
    assert codes == {"ok": 1, "approval_used": THREADS - 1}
    assert NumberSeries.objects.get().last_value == 1
    assert Receipt.objects.filter(tool="documents.issue").count() == 1


@pytest.mark.usefixtures("as_in_production")
@pytest.mark.requirement("issue.numbers_and_freezes")
def test_numbers_follow_the_commits_though_every_third_execution_fails_on_its_way(
    agent, draft_body
):
    """Each failure comes between the lock of the series and the commit, at another statement."""
    prepared = [approve(agent, draft_body, number) for number in range(50)]

    def execute_until_done(number: int) -> tuple[int, str]:
        failures = 0
        if number % 3 == 0:
            with connection.execute_wrapper(FailAfterLock(statements=number // 3 % 3)):
                failures += execute(agent, prepared[number], key=f"execute-{number}").status == 503
        answer = execute(agent, prepared[number], key=f"execute-{number}")
        assert answer.status == 200
        return failures, answer.data["number"]

    outcomes = in_threads(execute_until_done, range(50))

    assert sum(failures for failures, _ in outcomes) == 17
    numbers = [f"INV-2026-{value:04d}" for value in range(1, 51)]
    assert sorted(number for _, number in outcomes) == numbers
    assert NumberSeries.objects.get().last_value == 50
    assert numbers_in_order_of_commit() == numbers
    assert list(find_breaks()) == []


class FailAfterLock:
    """Fails a connection some statements after the number series was locked."""

    def __init__(self, *, statements: int) -> None:
        self.left = statements
        self.is_locked = False

    def __call__(self, run: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        if self.is_locked and "SAVEPOINT" not in sql:
            self.left -= 1
            if self.left < 0:
                self.is_locked = False
                raise ConnectionError("a failure between the lock and the commit")
        result = run(sql, params, many, context)
        if sql.startswith('UPDATE "invoices_numberseries"'):
            self.is_locked = True
        return result


def numbers_in_order_of_commit() -> list[str | None]:
    """Return the issued numbers in the order of the chain, whose end stays locked to the commit."""
    issued = AuditEvent.objects.filter(action="documents.issue", outcome="ok").order_by("sequence")
    approvals = ApprovalRequest.objects.in_bulk(event.target for event in issued)
    documents = {str(key): approval.target for key, approval in approvals.items()}
    numbers = dict(Document.objects.values_list("id", "number"))
    return [numbers[documents[event.target]] for event in issued]
