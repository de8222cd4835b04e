"""The fields of a draft: each limit from both sides, every mistake named, all of them at once."""

from typing import Any
from uuid import uuid4

import pytest

from invoicing.draft_fields import PersonInput
from tests.factories import TaxRateFactory
from tests.interface.refusals import invalid, nothing_changes, seen
from tests.snapshots import take_snapshot
from tests.tool_table import REQUIRED_OF_A_DRAFT, REQUIRED_OF_A_LINE, TAKING_A_DRAFT

pytestmark = pytest.mark.usefixtures("many_calls")


ID = "must be the ID of a record"
TEXT = "must be a string"
CURRENCY = "must be three capital letters (ISO 4217)"
DATE = "must be a date written YYYY-MM-DD"
DAY = "must be a date that exists"
LANGUAGE = "must be a language code"
CONTROL = "must not contain control characters"
PRICE = (
    'must be a string of minor units, such as "12500" for 125.00 EUR,'
    " in at most 18 digits without leading zeros"
)
DISCOUNT = (
    'must be a string of basis points for percent ("1000" is 10 %) or of minor units for amount,'
    " in at most 18 digits without leading zeros"
)
QUANTITY = "must be positive, with at most 11 digits before a dot and 4 after it, such as 1.5"
PAIR = "goes together with the discount type: send both or neither"
KIND = "must be 'percent' or 'amount'"
UNKNOWN = "is not a field of this tool"
EMPTY = "must not be empty"

NOT_TEXT: list[Any] = [True, 1, 1.5, [], {}, ["x"], {"x": "y"}]
# What a careless reader would take for a number.
NO_NUMBER: list[Any] = [
    *("", "-1", "+1", "01", "1,5", "1e3", "0x1", "1_0", "\u0661", "\uff11", "¹", "½", "NaN"),
    *("Infinity", " 1", "1 ", "1\n", "9" * 5000),
]
PLAIN_ID = uuid4().hex
LINE_ENDS = ["a\nb", "a\rb", "a\r\nb"]

# Field, its problem, and the values that have it.
WRONG_HEADERS: list[tuple[str, str, list[Any]]] = [
    ("customer_id", ID, ["", " ", "x", "1", "{}", "null", "0" * 36, PLAIN_ID]),
    ("customer_id", ID, [f"urn:uuid:{uuid4()}"]),
    ("customer_id", TEXT, [*NOT_TEXT, None]),
    ("currency_code", CURRENCY, ["", "eur", "EURO", "EU", "€", "ЕUR", " EUR", "EUR ", "EUR\n"]),  # noqa: RUF001  one letter is Cyrillic
    ("currency_code", CURRENCY, ["\uff25\uff35\uff32"]),
    ("currency_code", TEXT, [*NOT_TEXT, 978, None]),
    ("currency_code", "is not a supported currency", ["XAU", "ZZZ", "CLF"]),
    ("issue_date", DATE, ["", "2026-3-2", "02.03.2026", "20260302", "2026-03-02T00:00:00Z"]),
    ("issue_date", DATE, ["٢٠٢٦-٠٣-٠٢", "2026-W10-1", " 2026-03-02", "+2026-04-01"]),
    ("issue_date", DAY, ["2026-02-29", "2026-13-01", "2026-00-10", "0000-01-01"]),
    ("issue_date", TEXT, [*NOT_TEXT, 20260302, None]),
    ("due_date", "must not be before the issue date", ["2026-03-01", "0001-01-01"]),
    ("due_date", DATE, ["2026-4-1", "\u0662026-04-01", "2026-W10-1"]),
    ("due_date", DAY, ["0000-00-00", "2026-13-01"]),
    ("due_date", TEXT, [*NOT_TEXT, None]),
    ("line_items", "must not be empty", [[]]),
    ("line_items", "must be a list", [None, {}, "x", 1, True, 1.5, {"0": {}}]),
    ("line_items.0", "must be an object", [[None], ["x"], [1], [True], [[]], [[{}]]]),
    ("language", LANGUAGE, ["", "EN", "e", "en_GB", "../en", "english", "en-", "en\n"]),
    ("language", TEXT, NOT_TEXT),
    ("language", "is not a supported language", ["it", "en-gb", "tlh"]),
    ("notes", "must have at most 5000 characters", ["n" * 5001, "🙂" * 5001]),
    ("notes", CONTROL, ["a\x00b", "a\x1bb", "a\x7fb", "a\x85b", "a\x0bb"]),
    ("notes", TEXT, NOT_TEXT),
    ("reference", "must have at most 100 characters", ["r" * 101, "🙂" * 101]),
    ("reference", CONTROL, ["two\nlines", "a\x00b", *LINE_ENDS]),
    ("reference", TEXT, NOT_TEXT),
    ("lock_version", UNKNOWN, [1, None]),
    # A field is known by its exact name only.
    ("Customer_Id", UNKNOWN, ["x"]),
    ("customerId", UNKNOWN, ["x"]),
    ("__proto__", UNKNOWN, ["x"]),
]

WRONG_LINES: list[tuple[str, str, list[Any]]] = [
    ("description", EMPTY, ["", " ", "\r\n\t", "\u2003\u3000", "\u200b", "\u2060 \ufeff\n\u3164"]),
    ("description", "must have at most 1000 characters", ["d" * 1001, "🙂" * 1001]),
    ("description", CONTROL, ["a\x00b"]),
    ("description", TEXT, [*NOT_TEXT, None]),
    ("quantity", QUANTITY, [*NO_NUMBER, "0", "0.0000", "1.00001", ".5", "1.", "1" * 12]),
    ("quantity", TEXT, [*NOT_TEXT, None]),
    ("unit_price", PRICE, [*NO_NUMBER, "1.0", "00", "1 000", "1,000", "1" * 19]),
    ("unit_price", PRICE, [*NOT_TEXT, 100, 10.5, None, "12.50", "EUR 12.50"]),
    ("unit", "must have at most 20 characters", ["u" * 21, "🙂" * 21]),
    ("unit", CONTROL, LINE_ENDS),
    ("unit", TEXT, NOT_TEXT),
    ("discount_type", KIND, ["", "Percent", "PERCENT", "percent ", "amounts", "rate", *NOT_TEXT]),
    ("discount_value", DISCOUNT, [*NO_NUMBER, "1.5", "010", "1" * 19, "10%", *NOT_TEXT]),
    ("discount_value", PAIR, [None]),
    ("tax_rate_id", ID, ["", "0", "x", "null", "{}", PLAIN_ID, f"{{{uuid4()}}}"]),
    ("tax_rate_id", TEXT, NOT_TEXT),
    ("tax_rate_id", "is not an active tax rate", [str(uuid4())]),
    ("net_amount", UNKNOWN, ["100"]),
    ("quantity_ten_thousandths", UNKNOWN, ["10000"]),
]


def with_line(body, **fields: Any):
    (line,) = body["line_items"]
    return body | {"line_items": [line | fields]}


def without(fields, name):
    return {key: value for key, value in fields.items() if key != name}


@pytest.mark.requirement("error.fields", "error.validation_failed", "money.no_numbers")
@pytest.mark.requirement("draft_input.currency_code", "draft_input.issue_date", "limit.notes")
@pytest.mark.requirement("draft_input.due_date", "draft_input.language", "limit.reference")
def test_a_wrong_field_is_named_with_its_problem(agent, draft_body, subtests):
    before = take_snapshot()
    for field, problem, values in WRONG_HEADERS:
        for value in values:
            with subtests.test(field=field, value=ascii(value)[:60]):
                body = draft_body | {field.partition(".")[0]: value}
                expected = invalid((field, problem))
                assert seen(agent.call("documents.preview", body)) == expected
                assert seen(agent.call("drafts.create", body, key="k")) == expected
    assert take_snapshot() == before


@pytest.mark.requirement("line_item.description", "line_item.quantity", "line_item.unit_price")
@pytest.mark.requirement("line_item.unit", "line_item.discount_type", "line_item.tax_rate_id")
def test_a_wrong_field_of_a_line_is_named_by_its_path(agent, draft_body, subtests):
    before = take_snapshot()
    for field, problem, values in WRONG_LINES:
        for value in values:
            with subtests.test(field=field, value=ascii(value)[:60]):
                body = with_line(draft_body, **{field: value})
                answer = agent.call("drafts.create", body, key="k")
                assert seen(answer) == invalid((f"line_items.0.{field}", problem))
    assert take_snapshot() == before


@pytest.mark.requirement("draft_input.complete")
def test_every_required_field_that_is_left_out_is_named(agent, draft_body):
    for tool in TAKING_A_DRAFT:
        extra = [("lock_version", "is required")] if tool == "drafts.update" else []
        expected = invalid(*((name, "is required") for name in REQUIRED_OF_A_DRAFT), *extra)
        assert seen(agent.call(tool, {}, id=uuid4(), key="k")) == expected
    bare = draft_body | {"line_items": [{}]}
    assert seen(agent.call("documents.preview", bare)) == invalid(
        *((f"line_items.0.{name}", "is required") for name in REQUIRED_OF_A_LINE)
    )


@pytest.mark.requirement("draft_input.unknown_fields", "draft_input.service_owned_fields")
@pytest.mark.requirement("money.clients_compute_nothing")
@pytest.mark.parametrize("tool", TAKING_A_DRAFT)
def test_what_the_service_owns_is_not_submitted(agent, draft, draft_body, tool):
    owned = (
        *("net_total", "discount_total", "tax_total", "grand_total", "total", "status", "number"),
        *("type", "document_type", "creator", "created_by", "connection_id", "iban", "bank"),
        *("seller_name", "buyer_name", "legal", "tax_breakdown", "minor_unit", "draft_code"),
        *("internal_notes", "issued_at", *PersonInput.model_fields),
        # In MCP an update names its draft by this argument.
        *(() if tool == "drafts.update" else ("id",)),
    )
    version = {"lock_version": 1} if tool == "drafts.update" else {}
    with nothing_changes():
        # An answer names no more than twenty.
        for names in (owned[:15], owned[15:]):
            body = draft_body | version | dict.fromkeys(names, "1")
            answer = agent.call(tool, body, id=draft.id, key="k")
            assert seen(answer) == invalid(*((name, UNKNOWN) for name in names))


def test_all_mistakes_of_a_call_are_named_at_once(agent, draft_body):
    good = draft_body["line_items"][0]
    body = without(draft_body, "customer_id") | {
        "currency_code": "eur",
        "issue_date": "2026-02-30",
        "line_items": [
            good,
            without(good, "quantity") | {"unit_price": 5, "unit": "u" * 21},
            good | {"discount_value": None, "colour": "red"},
        ],
        "notes": 1,
        "total": "5",
    }
    with nothing_changes():
        answer = agent.call("drafts.create", body)
    assert seen(answer) == invalid(
        ("Idempotency-Key", "is required"),
        ("customer_id", "is required"),
        ("currency_code", CURRENCY),
        ("issue_date", DAY),
        ("line_items.1.quantity", "is required"),
        ("line_items.1.unit_price", PRICE),
        ("line_items.1.unit", "must have at most 20 characters"),
        ("line_items.2.discount_value", PAIR),
        ("line_items.2.colour", UNKNOWN),
        ("notes", TEXT),
        ("total", UNKNOWN),
    )


def test_what_contradicts_itself_is_named_before_any_record_is_looked_for(agent, draft_body):
    line = draft_body["line_items"][0]
    body = draft_body | {
        "lock_version": 1,
        "due_date": "2026-03-01",
        "line_items": [
            line | {"discount_type": "percent", "discount_value": "10001"},
            line | {"discount_type": "amount", "discount_value": "9" * 18},
            line | {"discount_type": "amount", "discount_value": "9" * 18, "unit_price": "0.1"},
        ],
    }
    answer = agent.call("drafts.update", body, id=uuid4(), key="k")
    assert seen(answer) == invalid(
        ("due_date", "must not be before the issue date"),
        ("line_items.0.discount_value", "must be at most 10000 basis points (100 %)"),
        ("line_items.1.discount_value", "must not be larger than quantity times unit price"),
        # Of what, nobody knows.
        ("line_items.2.unit_price", PRICE),
    )


def test_all_that_does_not_exist_is_named_at_once(agent, draft_body):
    inactive = TaxRateFactory.create(is_active=False)
    line = draft_body["line_items"][0]
    body = draft_body | {
        "customer_id": str(uuid4()),
        "currency_code": "XAU",
        "language": "it",
        "line_items": [
            line,
            line | {"tax_rate_id": str(uuid4())},
            line | {"tax_rate_id": str(inactive.id)},
        ],
    }
    answer = agent.call("drafts.create", body, key="k")
    assert sorted(answer.error["fields"]) == [
        "currency_code",
        "customer_id",
        "language",
        "line_items.1.tax_rate_id",
        "line_items.2.tax_rate_id",
    ]


@pytest.mark.requirement("limit.line_description", "limit.line_unit", "limit.unit_price")
@pytest.mark.requirement("limit.quantity", "draft_input.notes", "draft_input.reference")
def test_the_largest_of_everything_is_taken(agent, draft_body):
    fields = {
        "description": "🙂" * 1000,
        "unit": "ü" * 20,
        "unit_price": "9" * 18,
        "quantity": "0.0001",
        "discount_value": "10000",
    }
    body = with_line(draft_body, **fields)
    body |= {"notes": " " + "n" * 5000 + "\r\n", "reference": "r" * 100}
    data = agent.call("drafts.create", body, key="k" * 80).data
    assert (data["notes"], data["reference"]) == ("n" * 5000, "r" * 100)
    assert fields.items() <= data["line_items"][0].items()


@pytest.mark.requirement("limit.lines", "draft_input.line_items")
def test_a_draft_has_up_to_100_lines(agent, draft_body):
    line = draft_body["line_items"][0]
    numbered = [line | {"description": f"Line {number}"} for number in range(100)]
    data = agent.call("drafts.create", draft_body | {"line_items": numbered}, key="k").data
    assert [each["description"] for each in data["line_items"]] == [
        f"Line {number}" for number in range(100)
    ]
    with nothing_changes():
        answer = agent.call(
            "drafts.create", draft_body | {"line_items": [*numbered, line]}, key="l"
        )
    assert seen(answer) == invalid(("line_items", "must have at most 100 entries"))
