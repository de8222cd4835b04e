"""What counts as the same call, and what is kept of its answer."""

import hashlib
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest

from agent_access.calls import ToolCall
from agent_access.identifiers import read_id
from agent_access.models import Receipt
from agent_access.receipts import digest_call

RECORD = "0190f1f0-abcd-7000-8000-00000000000a"


@pytest.mark.parametrize("target", [RECORD, RECORD.upper()])
def test_the_digest_of_receipts_that_are_stored_already_stays(target):
    """tests/interface/test_idempotency.py shows which calls are another call."""
    parts: dict[str, Any] = dict.fromkeys(field.name for field in fields(ToolCall))
    call = ToolCall(
        **parts | {"tool": SimpleNamespace(name="x.y", read_id=read_id), "target": target}
    )
    text = f'["x.y","{RECORD}",{{"a":1}}]'
    assert digest_call(call, {"a": 1}) == hashlib.sha256(text.encode()).hexdigest()


def test_a_receipt_keeps_the_answer_and_no_key_but_its_own(agent, connection, draft_body):
    answer = agent.call("drafts.create", draft_body | {"notes": "日本 é \u2028"}, key="one")
    receipt = Receipt.objects.values().get()
    assert receipt == {
        "id": receipt["id"],
        "connection_id": connection.id,
        "key": "one",
        "tool": "drafts.create",
        "call_digest": receipt["call_digest"],
        "record_id": Receipt.objects.get().record_id,
        "status": 201,
        "answer": answer.content.decode(),
        "is_encrypted": False,
        "created_at": receipt["created_at"],
    }
    assert str(receipt["record_id"]) == answer.data["id"]
    assert len(receipt["call_digest"]) == 64
