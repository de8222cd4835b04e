"""Wrong types and unknown fields at every level of a draft."""

from typing import Any

import pytest

from tests.hostile.target import BODY_TOOLS, assert_nothing_changed, assert_refused
from tests.snapshots import take_snapshot
from tests.tool_table import DRAFT, LINE, REQUIRED_OF_A_DRAFT, REQUIRED_OF_A_LINE

# What is no text is refused before a database is asked.
pytestmark = pytest.mark.sqlite

NOT_TEXT: list[Any] = [True, False, 0, 1, -1, 1.5, [], {}, [""], ["x"], {"x": "y"}, [[[]]]]
HEADER = [name for name in DRAFT if name != "line_items"]

# Texts that a careless reader would take for the right thing.
NEARLY: dict[str, list[str]] = {
    "customer_id": ["", " ", "1", "{}", "null", "urn:uuid:0190f1f0-0000-7000-8000-000000000000"],
    "currency_code": ["", "eur", "EURO", "EU", "€", "EUR ", "\uff25\uff35\uff32", "EUR\n"],
    "issue_date": ["", "2026-3-2", "02.03.2026", "2026-02-30", "2026-03-02T00:00:00Z", "20260302"],
    "due_date": ["0000-00-00", "2026-13-01", "+2026-04-01", "\u0662026-04-01", "2026-W10-1"],
    "language": ["EN", "english", "en_US", "x", "", "en-", "en\n"],
}
NO_NUMBER = [
    *("", "-1", "+1", "01", "1,5", "1e3", "0x1", "1_0", "\u0661", "½", "NaN", "Infinity"),
    *(" 1", "1 ", "1\n", "9" * 5000),
]
NEARLY_IN_LINE: dict[str, list[str]] = {
    "quantity": [*NO_NUMBER, "0", "0.0", "1.", ".5", "1.00000", "1" * 12],
    "unit_price": [*NO_NUMBER, "1.0", "00", "1 000", "1" * 19],
    "discount_value": [*NO_NUMBER, "1.0", "10001", "1" * 19],
    "discount_type": ["", "PERCENT", "Percent", "none", "percent ", "amounts"],
    "tax_rate_id": ["", "0", "null", "{}", "0190f1f0000070008000000000000000"],
    "description": ["", " ", "\n\t \r", "\u2003\u3000"],
}

SERVICE_OWNED = (
    *("id", "type", "status", "number", "draft_code", "document_type", "created_by", "creator"),
    *("net_total", "discount_total", "tax_total", "grand_total", "total", "minor_unit"),
    *("connection_id", "connection_name", "href", "issued_at", "tax_breakdown", "tax_rows"),
    *("bank_details", "iban", "bic", "vat_number", "seller", "buyer_name", "internal_notes"),
    *("idempotency_key", "Idempotency-Key", "__proto__", "constructor", "__class__", "pk"),
)
SERVICE_OWNED_IN_LINE = (
    *("id", "position", "net_amount", "discount_amount", "tax_amount", "tax_rate", "percentage"),
    *("quantity_ten_thousandths", "document", "document_id", "__proto__", "total"),
)


def with_line(body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return body | {"line_items": [body["line_items"][0] | changes]}


@pytest.fixture(params=BODY_TOOLS)
def body_tool(request) -> str:
    tool: str = request.param
    return tool


@pytest.mark.requirement("money.no_numbers", "error.fields")
def test_a_field_of_the_header_takes_text_only(target, subtests):
    before = take_snapshot()
    for field in HEADER:
        nothing = [None] if field in REQUIRED_OF_A_DRAFT else []
        for value in [*NOT_TEXT, *nothing, *NEARLY.get(field, [])]:
            with subtests.test(field=field, value=ascii(value)[:40]):
                body = target.body_for("drafts.update", **{field: value})
                assert_refused(target.send_json("drafts.update", body), 422, fields=[field])
    assert_nothing_changed(before)


@pytest.mark.requirement("money.no_numbers", "line_item.quantity", "line_item.unit_price")
def test_a_field_of_a_line_takes_text_only(target, subtests):
    before = take_snapshot()
    for field in LINE:
        nothing = [None] if field in REQUIRED_OF_A_LINE else []
        for value in [*NOT_TEXT, *nothing, *NEARLY_IN_LINE.get(field, [])]:
            with subtests.test(field=field, value=ascii(value)[:40]):
                body = with_line(target.body_for("drafts.create"), **{field: value})
                answer = target.send_json("drafts.create", body)
                assert_refused(answer, 422, fields=[f"line_items.0.{field}"])
    assert_nothing_changed(before)


def test_lines_are_a_list_of_objects(target, subtests, body_tool):
    before = take_snapshot()
    line = target.draft_body["line_items"][0]
    cases: list[tuple[Any, list[str]]] = [
        *((value, ["line_items"]) for value in (None, True, 1, 1.5, "x", {}, {"0": line}, line)),
        ([], ["line_items"]),
        ([line] * 101, ["line_items"]),
        *(([line, value], ["line_items.1"]) for value in (None, True, 1, "x", [], [line])),
    ]
    for value, fields in cases:
        with subtests.test(value=ascii(value)[:40]):
            answer = target.send_json(body_tool, target.body_for(body_tool, line_items=value))
            assert_refused(answer, 422, fields=fields)
    assert_nothing_changed(before)


@pytest.mark.parametrize("field", REQUIRED_OF_A_DRAFT)
def test_a_missing_field_of_the_header_is_named(target, body_tool, field):
    body = target.body_for(body_tool)
    del body[field]
    assert_refused(target.send_json(body_tool, body), 422, fields=[field])


def test_a_missing_field_of_a_line_is_named(target, subtests):
    for field in REQUIRED_OF_A_LINE:
        with subtests.test(field=field):
            body = target.body_for("drafts.create")
            line = dict(body["line_items"][0])
            del line[field]
            answer = target.send_json("drafts.create", body | {"line_items": [line]})
            assert_refused(answer, 422)
            assert f"line_items.0.{field}" in answer.error["fields"]


@pytest.mark.requirement("draft_input.unknown_fields", "draft_input.service_owned_fields")
def test_what_the_service_owns_is_an_unknown_field(target, body_tool):
    before = take_snapshot()
    valid = target.body_for(body_tool)
    for field in SERVICE_OWNED:
        answer = target.send_json(body_tool, valid | {field: None})
        assert_refused(answer, 422, fields=[field])
    for field in SERVICE_OWNED_IN_LINE:
        answer = target.send_json(body_tool, with_line(valid, **{field: None}))
        assert_refused(answer, 422, fields=[f"line_items.0.{field}"])
    assert_nothing_changed(before)


@pytest.mark.requirement("draft_input.lock_version")
@pytest.mark.parametrize("tool", ["documents.preview", "drafts.create"])
def test_a_lock_version_is_unknown_where_nothing_is_updated(target, tool):
    answer = target.send_json(tool, target.body_for(tool) | {"lock_version": 1})
    assert_refused(answer, 422, fields=["lock_version"])


@pytest.mark.parametrize("spelling", ["Customer_Id", "customerId", "customer_id ", "CUSTOMER_ID"])
def test_a_field_is_known_by_its_exact_name_only(target, body_tool, spelling):
    body = target.body_for(body_tool)
    body[spelling] = body.pop("customer_id")
    answer = target.send_json(body_tool, body)
    assert_refused(answer, 422)
    named = spelling if spelling.isidentifier() else "?"
    assert set(answer.error["fields"]) == {"customer_id", named}


def test_everything_wrong_at_once_is_named_at_once(target, body_tool):
    before = take_snapshot()
    body = dict.fromkeys(HEADER, 1) | {"x": 1}
    line = dict.fromkeys(LINE, 1) | {"y": 1}
    answer = target.send_json(body_tool, body | {"line_items": [line]})
    assert_refused(answer, 422)
    expected = {*HEADER, "x", *(f"line_items.0.{field}" for field in line)}
    assert set(answer.error["fields"]) - {"lock_version"} == expected
    assert_nothing_changed(before)
