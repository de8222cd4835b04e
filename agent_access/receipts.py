"""Receipts: a write with an idempotency key runs once, and its answer is given again."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from agent_access import sealing
from agent_access.calls import ToolCall, ToolResult
from agent_access.errors import ANSWER_GONE, KEY_USED, ConflictError
from agent_access.models.receipts import Receipt
from agent_access.tools import Tool


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
    # If the key is known, this inserts nothing. A call that is still running is waited for.
    Receipt.objects.bulk_create([claim], ignore_conflicts=True)
    receipt = Receipt.objects.get(connection=call.connection, key=call.idempotency_key)
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
    receipt.status, receipt.answer = result.status, body.decode()
    receipt.is_encrypted = tool.answers_secret
    receipt.save(update_fields=["record_id", "status", "answer", "is_encrypted"])


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
