"""The wrong pieces of builds that are wrong on purpose; `broken_builds` says where each is put."""

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import OperationalError, connection, transaction

from agent_access import audit, execution, receipts
from agent_access.approvals import engine
from agent_access.approvals.kinds import Clock
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.calls import ToolCall, ToolResult
from agent_access.errors import UnavailableError
from agent_access.evidence import package
from agent_access.fields import ToolInput
from agent_access.keys import to_key
from agent_access.models import Receipt
from agent_access.oauth.validator import Validator
from agent_access.passkeys import signer
from agent_access.passkeys.signer import PasskeySigner
from agent_access.signing import Act
from agent_access.telling import messages, sending, worker
from agent_access.telling.models import Delivery, Outcome
from invoicing import decisions
from invoicing.administration import customer_imports
from invoicing.administration.acts import read_actor, record_admin_act
from invoicing.administration.customer_imports import Progress
from invoicing.customer_imports import planning
from invoicing.customer_imports.waiting import find_waiting, plan_import
from invoicing.exports import selection
from invoicing.models import Document, DocumentType, NumberSeries
from invoicing.services import numbering
from invoicing.services.document_facts import read_facts
from invoicing.services.numbering import AssignedNumber
from invoicing.web import originals

# Long enough for another call to come between two statements that belong together.
A_MOMENT = 0.1


def write_before_the_receipt(call: ToolCall, arguments: Any, inputs: ToolInput) -> ToolResult:
    """Commit the change first and its receipt afterwards."""
    digest = receipts.digest_call(call, arguments.values)
    with transaction.atomic(durable=True):
        known = Receipt.objects.filter(connection=call.connection, key=call.idempotency_key)
        receipt = known.filter(call_digest=digest).first()
        kept = receipts.stored_result(call, receipt) if receipt else None
        if kept is not None:
            audit.record_call(execution._fact(call, is_replay=True))
            return kept
        answer = execution._run_tool(call, inputs)
        audit.record_call(execution._fact(call, record_id=answer.record_id))
    time.sleep(A_MOMENT)
    result = ToolResult(call.tool.status, answer.body())
    with transaction.atomic(durable=True):
        claimed = receipts.claim_receipt(call, arguments.values)
        claimed.record_id = to_key(answer.record_id)
        receipts.keep_answer(claimed, call.tool, result)
    return result


def number_after_the_highest(document_type: DocumentType, year: int) -> AssignedNumber:
    """Take MAX + 1 of what can be seen, with nothing locked."""
    series, _ = NumberSeries.objects.get_or_create(type=document_type, year=year)
    issued = Document.objects.filter(series=series).order_by("-series_value")
    value = (issued.values_list("series_value", flat=True).first() or 0) + 1
    time.sleep(A_MOMENT)
    number = numbering.read_format(document_type).style.write(year, value)
    return AssignedNumber(series.pk, value, number)


def review_without_reading(
    pk: UUID, *, seen_by: Any, clock: Clock, **wanted: Any
) -> ApprovalSnapshot:
    """Take the draft to be what it was when the approval was prepared."""
    approval, draft = engine.lock_approval(pk, seen_by=seen_by, **wanted)
    read_facts([draft])  # Issuing freezes the parts of the parties as they were read.
    prepared = json.loads(approval.facts)
    return ApprovalSnapshot(approval, draft, prepared, clock())


def say_nothing(*_args: Any, **_facts: Any) -> None:
    """Leave out the event."""


def fork_the_chain(
    self: Validator,
    token: dict[str, Any],
    request: Any,
    _save: Callable[..., None] = Validator.save_bearer_token,
    **_: Any,
) -> None:
    """Give another pair for a refresh token that was rotated."""
    previous = getattr(request, "refresh_token_instance", None)
    if previous is not None and previous.revoked:
        request.refresh_token_instance = None
    _save(self, token, request)


def claim_what_others_have(delivery: Delivery, *, now: datetime) -> bool:
    """Count the attempt, whoever else makes it at this moment."""
    delivery.attempts += 1
    return bool(Delivery.objects.filter(pk=delivery.pk).update(attempts=delivery.attempts))


def claim_and_mark(
    delivery: Delivery, *, now: datetime, _claim: Callable[..., bool] = worker.claim
) -> bool:
    """Write down that it is sent, and send it then."""
    is_claimed = _claim(delivery, now=now)
    if is_claimed:
        worker._end(delivery, Outcome.SENT, now=now)
    return is_claimed


def compose_with_details(
    notification: Any,
    chosen: Any,
    *,
    now: datetime,
    _compose: Callable[..., Any] = messages.compose,
) -> Any:
    chosen.shows_details = True
    return _compose(notification, chosen, now=now)


def read_anew(
    document: Document, kind: Any, _read: Callable[..., bytes] = originals._read
) -> bytes:
    return _read(document, kind) + f"<!-- {time.time_ns()} -->".encode()


def import_row_by_row(actor: Any, pk: UUID, *, seen: str) -> Iterator[Progress]:
    """Commit each row by itself, and at the end that all was imported."""
    by = read_actor(actor)
    waiting = find_waiting(by, pk)
    plan = plan_import(by, waiting)
    new, changed = plan.having(planning.Outcome.NEW), plan.having(planning.Outcome.CHANGED)
    total = len(new) + len(changed)
    for write, rows in ((customer_imports._create, new), (customer_imports._save, changed)):
        for done, row in enumerate(rows):
            with transaction.atomic():
                write(by, [row])
            time.sleep(A_MOMENT / 10)
            yield Progress(done, total)
    with transaction.atomic():
        waiting.delete()
        detail = f"new {len(new)}, changed {len(changed)}, sha256 {seen}"
        record_admin_act("customers:imported", target=pk, actor=actor, detail=detail)
    yield Progress(total, total)


def read_all_but_the_last(
    pks: Sequence[UUID], read_person: Any, documents: Any, _read: Any = selection.read_documents
) -> Iterator[Document]:
    yield from _read(pks[:-1], read_person, documents)


@contextmanager
def take_back(share: float = 0.3, *, durable: bool = False) -> Iterator[None]:
    """Commit most transactions, and take the others back without a word."""
    with transaction.atomic(durable=durable):
        yield
        transaction.set_rollback(random.random() < share)  # noqa: S311  choices, no secrets


def number_apart(
    document_type: DocumentType,
    year: int,
    _next: Callable[..., AssignedNumber] = numbering.next_number,
) -> AssignedNumber:
    """Take the number in a transaction of its own, and fail behind it now and then."""

    def take() -> AssignedNumber:
        try:
            with transaction.atomic():
                return _next(document_type, year)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as beside:
        number = beside.submit(take).result()
    # Others take the next number meanwhile, and commit with it.
    time.sleep(20 * A_MOMENT * (number.series_value % 2))
    if number.series_value % 7 == 0:
        raise OperationalError
    return number


def never_answer_some(
    call: ToolCall,
    arguments: Any,
    inputs: ToolInput,
    _write: Callable[..., ToolResult] = execution._write,
) -> ToolResult:
    if str(call.idempotency_key).endswith("7"):
        raise UnavailableError
    return _write(call, arguments, inputs)


def log_the_nonce(
    call: ToolCall,
    arguments: Any,
    inputs: ToolInput,
    _write: Callable[..., ToolResult] = execution._write,
) -> ToolResult:
    execution.logger.warning("A call: %s", arguments.values)
    return _write(call, arguments, inputs)


def issue_and_take_back(*args: Any, _issue: Any = decisions._issue, **told: Any) -> Document:
    with take_back(share=0.5):
        issued: Document = _issue(*args, **told)
    return issued


def demand_nothing(_self: PasskeySigner, _act: Act, *, lock: bool) -> str:
    return ""


def keep_other_facts(act: Act, *told: Any, _keep: Callable[..., None] = signer._keep) -> None:
    _keep(replace(act, facts="{}"), *told)


def refuse_some(
    self: Validator,
    refresh_token: str,
    client: Any,
    request: Any,
    _validate: Callable[..., bool] = Validator.validate_refresh_token,
    **_: Any,
) -> bool:
    is_unlucky = random.random() < 0.3  # noqa: S311  as above
    return not is_unlucky and _validate(self, refresh_token, client, request)


def import_and_take_back(
    actor: Any, pk: UUID, *, seen: str, _import: Any = customer_imports.import_customers
) -> Iterator[Progress]:
    with take_back(share=1):
        yield from _import(actor, pk, seen=seen)


def leave_out_the_first(
    rows: Any, _write: Callable[..., Iterator[bytes]] = package.row_lines
) -> Iterator[bytes]:
    """Write all rows but the first one of a document with a number."""
    has_left_out = False
    for row in rows:
        if not has_left_out and '"number":"INV-' in str(row.get("content")):
            has_left_out = True
        else:
            yield from _write([row])


def judge_without_leaving(
    status: int, _judge: Callable[[int], sending.Answer] = sending._judge
) -> sending.Answer:
    answer = _judge(status)
    return sending.Answer.REFUSED if answer == sending.Answer.GONE else answer
