"""JSON that nobody would think of: hypothesis thinks of it, with a fixed seed."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from invoicing.models import Document
from tests.hostile.target import BODY_TOOLS, Target, assert_refused
from tests.tool_table import DRAFT, LINE

# Its types and its driver refuse values that SQLite takes.
pytestmark = pytest.mark.postgresql

GENTLY = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

WORDS = st.sampled_from(
    ["EUR", "2026-03-02", "1", "0", "1.5", "percent", "amount", "en", "", "x", "01", "-1", "99"]
)
ODD_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | ODD_TEXT
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD_TEXT, inner, max_size=3),
    max_leaves=8,
)


def changes_of(fields: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from([*fields, "lock_version"]) | ODD_TEXT
    return st.dictionaries(names, VALUES, max_size=3)


@pytest.mark.requirement("error.validation_failed")
@GENTLY
@given(tool=st.sampled_from(BODY_TOOLS), header=changes_of(DRAFT), line=changes_of(LINE))
@example(tool="drafts.create", header={"\ud800": 1}, line={"\ud800": 1})
@example(tool="drafts.create", header={"line_items": [[]]}, line={})
def test_no_json_breaks_a_tool(target: Target, tool: str, header: Any, line: Any) -> None:
    body = target.body_for(tool)
    body["line_items"] = [body["line_items"][0] | line]
    sent = json.dumps(body | header).encode()
    key = f"k{Document.objects.count()}"

    answer = target.send(tool, sent, HTTP_IDEMPOTENCY_KEY=key)

    if answer.status not in {200, 201}:
        assert answer.status in {409, 422}
        assert_refused(answer, answer.status)


@GENTLY
@given(tool=st.sampled_from(BODY_TOOLS), value=VALUES)
def test_no_json_in_place_of_a_draft_breaks_a_tool(target: Target, tool: str, value: Any) -> None:
    assert_refused(target.send_json(tool, value), 422)
    assert Document.objects.count() == 1


@GENTLY
@given(tool=st.sampled_from(BODY_TOOLS), content=st.binary(max_size=40), at=st.integers(0, 400))
def test_no_bytes_break_a_tool(target: Target, tool: str, content: bytes, at: int) -> None:
    body = json.dumps(target.body_for(tool)).encode()
    answer = target.send(tool, body[:at] + content + body[at + len(content) :])
    assert answer.status in {200, 201, 409, 422}
