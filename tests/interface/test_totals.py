"""Money over the wire: strings of minor units in and out, exact, half up, taxed per rate."""

import pytest

from invoicing.models import TaxRate
from tests.factories import TaxRateFactory
from tests.interface.issuing import decide, execute, prepare, read
from tests.interface.refusals import invalid, nothing_changes, seen

TOTALS = ("net_total", "discount_total", "tax_total", "grand_total")
ONLY_SAVED = {
    *("id", "type", "status", "number", "draft_code", "lock_version", "connection_id", "href"),
    "issued_at",
}
MOST = "9" * 18


@pytest.fixture
def rates(db):
    percentages = {"19": 190_000, "7": 70_000, "10": 100_000, "8.875": 88_750, "0": 0}
    return {
        name: str(TaxRateFactory.create(name=f"At {name}", percentage_ten_thousandths=value).id)
        for name, value in percentages.items()
    }


def line(quantity, unit_price, rate=None, discount=None):
    """Return a line; a discount is written "10%" in basis points or "5" in minor units."""
    fields = {"description": "Work", "quantity": quantity, "unit_price": unit_price}
    if discount is not None:
        kind = "percent" if discount.endswith("bp") else "amount"
        fields |= {"discount_type": kind, "discount_value": discount.removesuffix("bp")}
    return fields | {"rate": rate}


def body_of(draft_body, rates, lines, currency="EUR"):
    line_items = [
        {key: value for key, value in each.items() if key != "rate"}
        | ({"tax_rate_id": rates[each["rate"]]} if each["rate"] else {})
        for each in lines
    ]
    return draft_body | {"currency_code": currency, "line_items": line_items}


CASES = {
    # lines; currency; digits; net, discount, tax, grand
    "yen": ([line("3", "1000", "10")], "JPY", 0, (3000, 0, 300, 3300)),
    # 0.3333 x 12345 = 4114.5885; 10 % of 4115 = 411.5
    "dinar": ([line("0.3333", "12345", "10")], "BHD", 3, (4115, 0, 412, 4527)),
    "four_decimals": ([line("1.2345", "10000")], "EUR", 2, (12345, 0, 0, 12345)),
    "half_of_one_is_one": ([line("0.5", "1")], "EUR", 2, (1, 0, 0, 1)),
    "two_and_a_half_is_three": ([line("2.5", "1")], "EUR", 2, (3, 0, 0, 3)),
    "just_below_half_is_nothing": ([line("0.4999", "1")], "EUR", 2, (0, 0, 0, 0)),
    "free": ([line("1", "0", "19")], "EUR", 2, (0, 0, 0, 0)),
    # 10 % of 5 is 0.5
    "percent_half_up": ([line("1", "5", None, "1000bp")], "EUR", 2, (4, 1, 0, 4)),
    "all_off": ([line("1", "5", "19", "10000bp")], "EUR", 2, (0, 5, 0, 0)),
    "nothing_off": ([line("1", "500", "10", "0bp")], "EUR", 2, (500, 0, 50, 550)),
    "amount_off": ([line("2", "500", "10", "1")], "EUR", 2, (999, 1, 100, 1099)),
    "amount_off_to_nothing": ([line("2", "500", "10", "1000")], "EUR", 2, (0, 1000, 0, 0)),
    # 1 on the sum of 10, where two lines of 5 would each have made 1
    "per_rate": ([line("1", "5", "10")] * 2, "EUR", 2, (10, 0, 1, 11)),
    # 190 + 23.31
    "several_rates": (
        [line("1", "333", "7"), line("1", "1000", "19"), line("1", "500"), line("1", "1", "0")],
        "EUR",
        2,
        (1834, 0, 213, 2047),
    ),
    # 8.875 % of 400 is 35.5
    "odd_rate": ([line("1", "400", "8.875")], "USD", 2, (400, 0, 36, 436)),
    "largest": ([line("1", MOST)], "EUR", 2, (int(MOST), 0, 0, int(MOST))),
    "largest_quantity": (
        [line("99999999999.9999", "1")],
        "EUR",
        2,
        (100000000000, 0, 0, 100000000000),
    ),
}


@pytest.mark.requirement("money.strings", "money.scale_and_totals", "money.preview_total")
@pytest.mark.requirement("tool.documents_preview", "line_item.discount_percent")
@pytest.mark.requirement("tool.documents_preview_saves_nothing", "line_item.discount_amount")
@pytest.mark.parametrize("case", CASES)
def test_preview_and_create_agree_to_the_minor_unit(agent, draft_body, rates, case):
    lines, currency, digits, totals = CASES[case]
    body = body_of(draft_body, rates, lines, currency)
    with nothing_changes():
        preview = agent.call("documents.preview", body)

    assert preview.status == 200
    assert preview.data["minor_unit"] == digits
    assert {name: preview.data[name] for name in TOTALS} == dict(
        zip(TOTALS, map(str, totals), strict=True)
    )
    created = agent.call("drafts.create", body, key="k").data
    assert {name: created[name] for name in created.keys() - ONLY_SAVED} == preview.data
    assert agent.call("documents.get", id=created["id"]).data == created


@pytest.mark.requirement("money.strings", "approval.fields")
@pytest.mark.parametrize("case", ["dinar", "amount_off", "several_rates", "largest"])
def test_what_is_approved_and_issued_is_the_preview_to_the_minor_unit(
    agent, draft_body, rates, case
):
    lines, currency, *_ = CASES[case]
    body = body_of(draft_body, rates, lines, currency)
    preview = agent.call("documents.preview", body).data
    created = agent.call("drafts.create", body, key="create").data

    prepared = prepare(agent, created["id"]).data
    decide(prepared)
    issued = execute(agent, prepared).data["document"]

    of_approval = ("currency_code", "minor_unit", *TOTALS, "tax_breakdown")
    expected = {name: preview[name] for name in of_approval}
    assert {name: prepared[name] for name in of_approval} == expected
    assert {name: read(agent, prepared)[name] for name in of_approval} == expected
    assert {name: issued[name] for name in issued.keys() - ONLY_SAVED} == preview


def test_the_taxes_come_in_the_order_in_which_lines_use_them(agent, draft_body, rates):
    lines, *_ = CASES["several_rates"]
    preview = agent.call("documents.preview", body_of(draft_body, rates, lines)).data
    told = [
        (row["name"], row["percentage"], row["taxable_amount"], row["tax_amount"])
        for row in preview["tax_breakdown"]
    ]
    assert told == [
        ("At 7", "7", "333", "23"),
        ("At 19", "19", "1000", "190"),
        ("At 0", "0", "1", "0"),
    ]
    used = [rates["7"], rates["19"], rates["0"]]
    assert [row["tax_rate_id"] for row in preview["tax_breakdown"]] == used
    assert [each["tax_rate_id"] for each in preview["line_items"]] == [
        rates["7"],
        rates["19"],
        None,
        rates["0"],
    ]


def test_a_quantity_comes_back_without_trailing_zeros(agent, draft_body, rates):
    sent = ("1.50", "2.0000", "0.0001", "10", "0.10")
    body = body_of(draft_body, rates, [line(quantity, "100") for quantity in sent])
    lines = agent.call("documents.preview", body).data["line_items"]
    assert [each["quantity"] for each in lines] == ["1.5", "2", "0.0001", "10", "0.1"]


TOO_MUCH = {
    "gross": [line("1.0001", MOST)],
    "times ten": [line("10", MOST)],
    "large quantity": [line("99999999999", "10000001")],
    "net": [line("1", MOST), line("1", "1")],
    "with tax": [line("1", MOST, "19")],
    "discounts": [line("1", MOST, None, "10000bp"), line("1", MOST, None, "10000bp")],
    "before discount": [line("2", MOST, None, "10000bp")],
}


def test_an_amount_over_18_digits_is_refused(agent, draft_body, rates, subtests):
    expected = invalid(("line_items", "lead to an amount of more than 18 digits"))
    with nothing_changes():
        for reason, lines in TOO_MUCH.items():
            with subtests.test(reason=reason):
                body = body_of(draft_body, rates, lines)
                assert seen(agent.call("documents.preview", body)) == expected
                assert seen(agent.call("drafts.create", body, key="k")) == expected


@pytest.mark.requirement("line_item.discount_value")
def test_a_discount_above_its_line_is_named(agent, draft_body, rates):
    lines = [line("1", "100"), line("0.5", "99", None, "51"), line("1", "100", None, "10001bp")]
    body = body_of(draft_body, rates, lines)
    expected = invalid(
        ("line_items.1.discount_value", "must not be larger than quantity times unit price"),
        ("line_items.2.discount_value", "must be at most 10000 basis points (100 %)"),
    )
    assert seen(agent.call("documents.preview", body)) == expected
    assert seen(agent.call("drafts.create", body, key="k")) == expected
    # 0.5 x 99 = 49.5 is 50
    allowed = body_of(draft_body, rates, [line("0.5", "99", None, "50")])
    assert agent.call("documents.preview", allowed).data["net_total"] == "0"


def test_a_later_percentage_changes_no_saved_draft(agent, draft_body, rates):
    created = agent.call(
        "drafts.create", body_of(draft_body, rates, [line("1", "100", "10")]), key="k"
    )
    TaxRate.objects.update(percentage_ten_thousandths=990_000)
    read = agent.call("documents.get", id=created.data["id"])
    assert read.data == created.data
