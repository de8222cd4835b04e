"""What counts as the same call, and what is kept of its answer."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from agent_access.calls import Arguments, ToolCall
from agent_access.models import Receipt
from agent_access.receipts import digest_call
from tests.snapshots import take_snapshot

ORIGINAL = '{"a": 1, "b": {"c": [1, 2], "d": "\\u00e9"}}'


def digest(
    text: str, *, tool: str = "x.y", target: str | None = None, transport: str = "http"
) -> str:
    """Return the digest of a call of which only tool, target and arguments count."""
    parts: dict[str, Any] = {
        "tool": SimpleNamespace(name=tool),
        "connection": None,
        "settings": None,
        "origin": SimpleNamespace(transport=transport),
        "target": target,
    }
    return digest_call(ToolCall(read_arguments=lambda: Arguments({}), **parts), json.loads(text))


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
        digest('["1", {}]'),
    ]
    assert len(set(digests)) == len(digests)


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


@pytest.mark.requirement("idempotency.original_write")
def test_a_replay_tells_the_original_write_and_not_the_present(agent, draft_body):
    first = agent.call("drafts.create", draft_body, key="one")
    changed = draft_body | {"lock_version": 1, "notes": "later"}
    agent.call("drafts.update", changed, id=first.data["id"], key="two")
    before = take_snapshot()
    assert agent.call("drafts.create", draft_body, key="one").content == first.content
    assert take_snapshot() == before


def test_a_key_is_a_connections_own(connect, delegate, draft_body):
    agents = [connect(delegate)[1] for _ in range(2)]
    answers = [agent.call("drafts.create", draft_body, key="one") for agent in agents]
    assert [answer.status for answer in answers] == [201, 201]
    assert answers[0].data["id"] != answers[1].data["id"]


@pytest.mark.requirement("error.failure_stores_no_receipt")
def test_a_refused_write_leaves_its_key_free(agent, draft_body):
    wrong = draft_body | {"customer_id": "0190f1f0-0000-7000-8000-000000000000"}
    assert agent.call("drafts.create", wrong, key="one").status == 422
    assert not Receipt.objects.exists()
    assert agent.call("drafts.create", draft_body, key="one").status == 201


def test_keys_of_another_case_are_other_keys(agent, draft_body):
    for key in ("a", "A", "a_", "a-"):
        assert agent.call("drafts.create", draft_body, key=key).status == 201
    assert Receipt.objects.count() == 4
