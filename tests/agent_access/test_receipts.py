"""What counts as the same call, and what is kept of its answer."""

import hashlib
import json
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest

from agent_access.calls import ToolCall
from agent_access.models import Receipt
from agent_access.receipts import digest_call

RECORD = "0190f1f0-abcd-7000-8000-00000000000a"
ORIGINAL = '{"a": 1, "b": {"c": [1, 2], "d": "\\u00e9"}}'


def digest(
    text: str, *, tool: str = "x.y", target: str | None = None, transport: str = "http"
) -> str:
    """Return the digest of a call of which only tool, target and arguments count."""
    parts: dict[str, Any] = dict.fromkeys(field.name for field in fields(ToolCall))
    parts |= {
        "tool": SimpleNamespace(name=tool),
        "origin": SimpleNamespace(transport=transport),
        "target": target,
    }
    return digest_call(ToolCall(**parts), json.loads(text))


@pytest.mark.requirement("idempotency.identical_retry")
@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"b":{"c":[1,2],"d":"\\u00e9"}}',
        '\n{ "a" : 1 ,\t"b" : { "c" : [ 1, 2 ], "d" : "\u00e9" } }\r\n',
    ],
)
def test_white_space_and_escapes_make_no_other_call(text):
    assert digest(text) == digest(ORIGINAL)


def test_the_transport_makes_no_other_call():
    assert digest(ORIGINAL, transport="mcp") == digest(ORIGINAL)


@pytest.mark.requirement("idempotency.other_call")
@pytest.mark.parametrize(
    "text",
    [
        '{"b": {"c": [1, 2], "d": "\\u00e9"}, "a": 1}',
        '{"a": 1, "b": {"d": "\\u00e9", "c": [1, 2]}}',
        '{"a": 1, "b": {"c": [2, 1], "d": "\\u00e9"}}',
        '{"a": 1.0, "b": {"c": [1, 2], "d": "\\u00e9"}}',
        '{"a": "1", "b": {"c": [1, 2], "d": "\\u00e9"}}',
        '{"a": true, "b": {"c": [1, 2], "d": "\\u00e9"}}',
        '{"a": 1, "b": {"c": [1, 2], "d": "e\\u0301"}}',
        '{"a": 1, "b": {"c": [1, 2], "d": "\\u00e9 "}}',
        '{"a": 1, "b": {"c": [1, 2], "d": "\\u00e9"}, "e": null}',
        '{"a": 1, "b": {"c": [1, 2]}}',
    ],
)
def test_other_values_or_another_order_are_another_call(text):
    assert digest(text) != digest(ORIGINAL)


@pytest.mark.requirement("idempotency.other_call")
def test_another_tool_or_target_is_another_call():
    digests = [
        digest(ORIGINAL),
        digest(ORIGINAL, tool="x.z"),
        digest(ORIGINAL, target="1"),
        digest(ORIGINAL, target="2"),
        digest(ORIGINAL, target=RECORD),
        digest('["1", {}]'),
    ]
    assert len(set(digests)) == len(digests)


def test_a_target_in_capitals_is_the_same_target():
    assert digest(ORIGINAL, target=RECORD.upper()) == digest(ORIGINAL, target=RECORD)


def test_the_digest_of_receipts_that_are_stored_already_stays():
    text = f'["x.y","{RECORD}",{{"a":1}}]'
    stored = hashlib.sha256(text.encode()).hexdigest()
    assert digest('{"a": 1}', tool="x.y", target=RECORD) == stored


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
