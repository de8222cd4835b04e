"""What is approved is all that is shown and frozen: one changed fact makes the approval stale."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import orjson
import pytest

from agent_access.approvals.errors import ApprovalStateError
from agent_access.approvals.models import ApprovalRequest
from invoicing.agent_tools import issue_approvals
from invoicing.identifiers import new_id
from invoicing.models import (
    Company,
    Customer,
    Document,
    Line,
    Logo,
    NumberSeries,
    TaxRate,
    TaxRow,
)
from invoicing.services.document_facts import Facts, read_facts
from invoicing.services.issuing import issue_document
from invoicing.totals import DiscountType
from tests.approvals import A_MINUTE_LATER, prepare
from tests.clocks import at
from tests.factories import CustomerFactory, TaxRateFactory, line_input, make_draft

pytestmark = pytest.mark.requirement("approval.becomes_stale", "error.approval_stale")


def rows_of(path: str) -> Any:
    """Return the one row in which the fact of a path is kept."""
    tables = {
        "seller": Company.objects,
        "customer": Customer.objects.filter(name="Acme Ltd"),
        "line_items": Line.objects,
        "tax_breakdown": TaxRow.objects,
    }
    return tables.get(path.split(".", maxsplit=1)[0], Document.objects)


def issue_by_hand() -> None:
    issue_document(Document.objects.get(), clock=at(A_MINUTE_LATER))


def other_rate() -> Any:
    return TaxRateFactory.create(name="VAT standard").pk


# For every path of the facts: the columns that are changed, or what else changes it.
CHANGES: dict[str, Any] = {
    "status": issue_by_hand,
    "lock_version": {"lock_version": 2},
    "seller.id": lambda: Company.objects.update(id=new_id()),
    "seller.name": {"name": "Halden Works Ltd"},
    "seller.address": {"postcode": "20458"},
    "seller.vat_number": {"vat_number": "DE987654321"},
    "seller.iban": {"iban": "GB82WEST12345698765432"},
    "seller.bic": {"bic": ""},
    "customer.id": lambda: Document.objects.update(
        customer=CustomerFactory.create(name="Acme Ltd")
    ),
    "customer.name": {"name": "Acme Limited"},
    "customer.address": {"city": "Utrecht"},
    "customer.vat_number": {"vat_number": ""},
    "customer.is_active": {"is_active": False},
    "issue_date": {"issue_date": date(2026, 3, 1)},
    "due_date": {"due_date": date(2026, 4, 2)},
    "currency_code": {"currency_code": "USD"},
    "minor_unit": {"minor_unit": 3},
    "language": {"language": "de"},
    "notes": {"notes": "Thank you!"},
    "reference": {"reference": "PO 8"},
    "line_items.0.description": {"description": "Consulting in May"},
    "line_items.0.quantity": {"quantity_ten_thousandths": 20_001},
    "line_items.0.unit": {"unit": "h"},
    "line_items.0.unit_price": {"unit_price": 5001},
    "line_items.0.discount_type": {"discount_type": DiscountType.AMOUNT},
    "line_items.0.discount_value": {"discount_value": 1001},
    "line_items.0.tax_rate_id": lambda: Line.objects.update(tax_rate=other_rate()),
    "line_items.0.discount_amount": {"discount_amount": 1},
    "line_items.0.net_amount": {"net_amount": 1},
    "tax_breakdown.0.tax_rate_id": lambda: TaxRow.objects.update(tax_rate=other_rate()),
    "tax_breakdown.0.name": lambda: TaxRate.objects.update(name="VAT"),
    "tax_breakdown.0.percentage": lambda: TaxRate.objects.update(percentage_ten_thousandths=1),
    "tax_breakdown.0.is_active": lambda: TaxRate.objects.update(is_active=False),
    "tax_breakdown.0.taxable_amount": {"taxable_amount": 1},
    "tax_breakdown.0.tax_amount": {"tax_amount": 1},
    "net_total": {"net_total": 1, "tax_total": 10_709},
    "discount_total": {"discount_total": 1},
    "tax_total": {"tax_total": 1, "grand_total": 9001},
    "grand_total": {"grand_total": 10_711, "tax_total": 1711},
}


def exempt_the_line() -> None:
    Line.objects.update(tax_rate=None)
    Company.objects.update(untaxed_category="E", untaxed_reasons={"en": "Exempt"})


# The same for facts that are left out while they are not set.
CHANGES_WHERE_UNSET: dict[str, Any] = {
    "tax_breakdown.0.category": lambda: TaxRate.objects.update(category="S"),
    "tax_breakdown.0.printed_name": lambda: TaxRate.objects.update(names={"en": "VAT"}),
    "tax_breakdown.0.reason": lambda: TaxRate.objects.update(reasons={"en": "Exempt"}),
    "untaxed_category": exempt_the_line,
    "untaxed_reason": exempt_the_line,
}


SET = {
    "tax_number": "143/123/45678",
    "email": "post@example.com",
    "electronic_address": "4000001000005",
    "electronic_address_scheme": "0088",
}
# What is a fact only where it is set.
PARTS = {
    "seller": {
        **SET,
        "registration": "HRB 12345",
        "contact_name": "Olivia Owner",
        "phone": "+49 40 123",
        "footer_text": "Halden Works",
    },
    "customer": {**SET, "customer_number": "C-7"},
}


@pytest.fixture
def with_parts(company, customer):
    for number in range(2):
        Logo.objects.create(digest=str(number) * 64, png=b"")
    Company.objects.update(**PARTS["seller"], logo="0" * 64)
    Customer.objects.update(**PARTS["customer"], buyer_reference="B-7")


@pytest.fixture
def prepared(delegate, customer, tax_rate):
    line = line_input(
        tax_rate_id=tax_rate.id, discount_type=DiscountType.PERCENT, discount_value=1000
    )
    draft = make_draft(user=delegate, customer=customer, lines=(line,), notes="Thank you.")
    return prepare(draft, user=delegate)


def leaves(facts: Any, path: str = "") -> Iterator[str]:
    if not isinstance(facts, dict | list):
        yield path.removeprefix(".")
        return
    for key, value in facts.items() if isinstance(facts, dict) else enumerate(facts):
        yield from leaves(value, f"{path}.{key}")


def refuse_as_stale(prepared) -> None:
    """Execute the approved approval, which must be stale; nothing may be issued by it."""
    series = list(NumberSeries.objects.values())
    with pytest.raises(ApprovalStateError, match="stale"):
        prepared.execute()
    assert list(NumberSeries.objects.values()) == series
    assert ApprovalRequest.objects.get().executed_at is None


def test_every_fact_has_its_change_below(prepared):
    assert set(leaves(prepared.read().prepared)) == set(CHANGES)


@pytest.mark.sqlite  # facts are compared in Python
@pytest.mark.parametrize(("path", "change"), (CHANGES | CHANGES_WHERE_UNSET).items())
def test_any_changed_fact_makes_the_approval_stale_and_is_named(prepared, path, change):
    prepared.decide()

    if callable(change):
        change()
    else:
        rows_of(path).update(**change)

    snapshot = prepared.read()
    assert snapshot.state == "stale"
    assert path in snapshot.stale_fields
    refuse_as_stale(prepared)


@pytest.mark.parametrize("value", ["0199", ""], ids=["changed", "taken away"])
def test_any_changed_part_of_a_party_makes_the_approval_stale(with_parts, prepared, value):
    known = {f"{party}.{name}" for party, parts in PARTS.items() for name in parts}
    known |= {"seller.logo", "buyer_reference"}
    assert set(leaves(prepared.read().prepared)) == CHANGES.keys() | known
    prepared.decide()

    for path in known - {"seller.logo", "buyer_reference"}:
        rows, name = rows_of(path), path.split(".")[1]
        [before] = rows.values(name)
        rows.update(**{name: value})
        assert prepared.read().stale_fields == [path]
        refuse_as_stale(prepared)
        rows.update(**before)
    for change, path in (
        (lambda: Company.objects.update(logo=(value and "1" * 64) or None), "seller.logo"),
        (lambda: Customer.objects.update(buyer_reference=value), "buyer_reference"),
    ):
        change()
        assert path in prepared.read().stale_fields
        refuse_as_stale(prepared)


@pytest.mark.parametrize("name", ["address_line", "region"])
def test_a_further_part_of_an_address_makes_the_approval_stale(prepared, name):
    prepared.decide()
    Company.objects.update(**{name: "Building 7"})
    Customer.objects.update(**{name: "Building 7"})
    assert prepared.read().stale_fields == ["seller.address", "customer.address"]
    refuse_as_stale(prepared)


def add_line() -> None:
    line = Line.objects.get()
    line.pk, line.position = new_id(), 1
    line.save(force_insert=True)


def lose_line() -> None:
    Line.objects.all().delete()


@pytest.mark.parametrize(
    ("change", "path"), [(add_line, "line_items.1"), (lose_line, "line_items.0")]
)
def test_a_line_more_or_less_makes_it_stale(prepared, change, path):
    prepared.decide()
    change()
    assert prepared.read().stale_fields == [path]
    refuse_as_stale(prepared)


def test_another_order_of_lines_makes_it_stale(delegate):
    lines = (line_input(description="First"), line_input(description="Second"))
    prepared = prepare(make_draft(user=delegate, lines=lines), user=delegate)
    prepared.decide()
    for description, position in (("First", 7), ("Second", 0), ("First", 1)):
        Line.objects.filter(description=description).update(position=position)

    assert prepared.read().stale_fields == [
        "line_items.0.description",
        "line_items.1.description",
    ]
    refuse_as_stale(prepared)


def test_a_fact_changed_back_is_no_difference(prepared):
    prepared.decide()
    Customer.objects.update(name="Acme Limited")
    assert prepared.read().state == "stale"
    Customer.objects.update(name="Acme Ltd")

    assert prepared.read().state == "approved"
    assert orjson.loads(prepared.execute().result)["number"] == "INV-2026-0001"


def test_the_customer_that_was_compared_is_frozen(monkeypatch, prepared):
    """It is locked, and read once: a change that comes later comes after the issue."""
    prepared.decide()

    def read_and_change(documents: Sequence[Document]) -> list[Facts]:
        facts = read_facts(documents)
        Customer.objects.update(name="Somebody Else")
        return facts

    monkeypatch.setattr(issue_approvals, "read_facts", read_and_change)
    prepared.execute()

    issued = Document.objects.get()
    assert issued.buyer_name == "Acme Ltd"
