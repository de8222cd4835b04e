"""Builds of the service that are wrong on purpose: the harness must find each of them out.

The product is changed in the server's own process, once Django is set up there.
"""

import json
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agent_access import audit, execution, receipts
from agent_access.approvals import engine
from agent_access.approvals.kinds import Clock
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.calls import ToolCall, ToolResult
from agent_access.database import clock
from agent_access.fields import ToolInput
from agent_access.keys import to_key
from agent_access.models import Receipt
from invoicing.models import Document, DocumentType, NumberSeries
from invoicing.services import issuing, numbering
from invoicing.services.document_facts import read_facts
from invoicing.services.numbering import AssignedNumber
from tests.breaking.builds import Build

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


# What is put in which place of the product.
CHANGES: dict[Build, list[tuple[ModuleType, str, Callable[..., Any]]]] = {
    Build.RECEIPT_OUTSIDE: [(execution, "_write", write_before_the_receipt)],
    Build.MAXIMUM_PLUS_ONE: [(issuing, "next_number", number_after_the_highest)],
    Build.APPROVAL_NOT_READ: [(engine, "_lock_and_read", review_without_reading)],
    Build.MACHINES_CLOCK: [(clock, "_ask_database", timezone.now)],
}


def break_product(build: Build) -> None:
    """Make the product wrong in this process; raises AttributeError where a place has moved."""
    for module, name, replacement in CHANGES[build]:
        getattr(module, name)
        setattr(module, name, replacement)
