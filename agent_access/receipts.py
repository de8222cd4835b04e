"""Receipts: a write with an idempotency key runs once, and its answer is given again."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.db import connection as database
from django.utils import timezone

from agent_access import sealing
from agent_access.calls import ToolCall, ToolResult
from agent_access.database.selected import Selected
from agent_access.errors import ANSWER_GONE, KEY_USED, ConflictError
from agent_access.models.receipts import Receipt
from agent_access.tools import Tool

COLUMNS = [field.attname for field in Receipt._meta.concrete_fields]
# Django's `ignore_conflicts` would not tell whether it inserted.
CLAIM = f"""
    INSERT INTO agent_access_receipt ({", ".join(COLUMNS)})
    VALUES ({", ".join(["%s"] * len(COLUMNS))}) ON CONFLICT DO NOTHING
"""  # noqa: S608  names of our own
RECEIPTS = Selected(Receipt)


def claim_receipt(call: ToolCall, arguments: Mapping[str, Any]) -> Receipt:
    """Return the receipt of this call's key: a new one, or the one that was stored before.

    Must be the first write of the call's transaction. A call with the same key that is still
    running is waited for (on PostgreSQL by the unique index, on SQLite by the write lock).
    Raises ConflictError if the key belongs to another call.
    """
    digest = digest_call(call, arguments)
    claim = Receipt(
        connection=call.connection,
        key=str(call.idempotency_key),
        tool=call.tool.name,
        call_digest=digest,
        created_at=timezone.now(),
    )
    with database.cursor() as cursor:
        cursor.execute(CLAIM, [RECEIPTS.adapt(name, getattr(claim, name)) for name in COLUMNS])
        if cursor.rowcount:
            return claim
    # The key is known. A call with it that was still running has been waited for.
    receipt = Receipt.objects.get(connection=call.connection, key=claim.key)
    if receipt.call_digest != digest:
        raise ConflictError(KEY_USED, fields=[call.key_field])
    return receipt


def digest_call(call: ToolCall, arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256 of tool, target and arguments, values and field order included.

    The transport, white space and the case of the target make no difference; 1 and 1.0 do.
    """
    target = call.target if call.target_id is None else str(call.target_id)
    text = json.dumps([call.tool.name, target, arguments], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def keep_answer(receipt: Receipt, tool: Tool, result: ToolResult) -> None:
    """Store the answer, in the transaction that claimed the receipt."""
    body = sealing.seal(result.body) if tool.answers_secret else result.body
    kept = {"record_id": receipt.record_id, "status": result.status, "answer": body.decode()}
    Receipt.objects.filter(pk=receipt.pk).update(**kept, is_encrypted=tool.answers_secret)


def stored_result(call: ToolCall, receipt: Receipt) -> ToolResult | None:
    """Return the kept answer byte for byte, or None for a receipt that was just claimed.

    Raises ConflictError for an encrypted answer whose key is gone.
    """
    if receipt.status is None:
        return None
    body = receipt.answer.encode()
    try:
        body = sealing.unseal(body) if receipt.is_encrypted else body
    except sealing.KeyGoneError:
        raise ConflictError(ANSWER_GONE, fields=[call.key_field]) from None
    return ToolResult(receipt.status, body, is_replay=True)
