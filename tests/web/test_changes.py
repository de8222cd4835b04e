"""Whatever differs in a document's facts, the review page names it."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from invoicing.totals import DiscountType
from invoicing.web.changes import Change, find_changes
from tests.approvals import prepare
from tests.factories import line_input, make_draft

# Words that have to stay words of their kind; other texts get a letter more, numbers one more.
OTHER_WORDS = {
    "status": "issued",
    "issue_date": "2026-03-01",
    "due_date": "2026-04-02",
    "currency_code": "USD",
    "language": "de",
    "quantity": "2.5",
    "percentage": "8.875",
    "discount_type": "amount",
    "supply_date": "2026-03-03",
    "supply_end_date": "2026-03-03",
    "exchange_rate_date": "2026-03-03",
    "exchange_rate": "1.25",
    "delivery_country": "CH",
    "category": "AE",
    "untaxed_category": "E",
    "national_currency": "CHF",
    # A digest: its beginning is read.
    "logo": "b" * 64,
}
# What an older draft has not: all that came after the first release.
LATER = {
    "supply_date": "2026-03-01",
    "supply_end_date": "2026-03-02",
    "delivery_country": "BE",
    "buyer_reference": "PO 7",
    "exchange_rate": "1.085",
    "exchange_rate_base": "USD",
    "exchange_rate_date": "2026-03-01",
    "untaxed_category": "O",
    "untaxed_reason": "Not taxable",
    "national_currency": "EUR",
    "national_minor_unit": 2,
    "national_tax_total": 1751,
    "corrects": {"number": "INV-2026-0001", "issue_date": "2026-02-01"},
    "correction_reason": "Returned",
}
OF_PARTIES = dict.fromkeys(
    ("tax_number", "email", "electronic_address", "electronic_address_scheme"), "Some"
)
OF_SELLER = dict.fromkeys(("registration", "contact_name", "phone", "footer_text"), "Some")
OF_RATE = {"category": "S", "printed_name": "USt.", "reason": "A reason"}
# IDs are not read by people; see test_review for the records that look alike.
UNSEEN = ("id", "tax_rate_id")


@pytest.fixture
def facts(delegate, customer, tax_rate) -> Any:
    line = line_input(
        tax_rate_id=tax_rate.id, discount_type=DiscountType.PERCENT, discount_value=1000
    )
    draft = make_draft(user=delegate, customer=customer, lines=(line,), notes="Thank you.")
    facts = prepare(draft, user=delegate).read().prepared
    [row] = facts["tax_breakdown"]
    return {
        **facts,
        **LATER,
        "seller": {**facts["seller"], **OF_PARTIES, **OF_SELLER, "logo": "a" * 64},
        "customer": {**facts["customer"], **OF_PARTIES, "customer_number": "K 7"},
        "tax_breakdown": [{**row, **OF_RATE}],
    }


def changed_facts(facts: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name of each fact with a copy of all facts in which it alone is another."""
    for holder, name in list(places(facts, [])):
        changed = copy.deepcopy(facts)
        place = changed
        for step in holder:
            place = place[step]
        place[name] = another(str(name), place[name])
        yield str(name), changed


def places(value: Any, path: list[Any]) -> Iterator[tuple[list[Any], Any]]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, dict | list):
            yield from places(inner, [*path, key])
        else:
            yield path, key


def another(name: str, value: Any) -> Any:
    if name in OTHER_WORDS:
        return OTHER_WORDS[name]
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}x"


def test_every_fact_that_differs_is_named(facts):
    tried = [(name, find_changes(facts, changed)) for name, changed in changed_facts(facts)]
    assert len(tried) == 71
    assert {name for name, changes in tried if not changes} <= set(UNSEEN)


def test_equal_facts_show_no_change(facts):
    assert find_changes(facts, copy.deepcopy(facts)) == []


def test_a_line_more_and_a_line_less_are_shown_against_nothing(facts):
    longer = copy.deepcopy(facts)
    longer["line_items"].append(longer["line_items"][0])
    line = "Consulting\n2 × 50.00\nDiscount 10% = 10.00\nTax 19%\n90.00"  # noqa: RUF001  the sign of multiplication
    assert find_changes(facts, longer) == [Change("Line 2", "", line)]
    assert find_changes(longer, facts) == [Change("Line 2", line, "")]
