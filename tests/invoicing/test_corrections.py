"""Credit notes that correct an invoice: what they take back, in whose names, and what is left."""

import pytest

from invoicing.access import Permission
from invoicing.fixed_point import SCALE
from invoicing.models import Document, User
from invoicing.services.corrections import read_balance
from invoicing.services.document_facts import read_document
from invoicing.services.issuing import issue_document
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    TaxRateFactory,
    line_input,
    make_correction,
    make_issued,
    make_staff,
)

CORRECTOR = (Permission.VIEW_DOCUMENT, Permission.MANAGE, Permission.FINALIZE)
LINE_AMOUNTS = ("quantity_ten_thousandths", "discount_amount", "net_amount")
TAX_AMOUNTS = ("name", "taxable_amount", "tax_amount")
TOTALS = ("net_total", "discount_total", "tax_total", "grand_total")


@pytest.fixture
def person(db: None) -> User:
    return make_staff(*CORRECTOR)


@pytest.fixture
def invoice(person: User) -> Document:
    """Three lines: 3 x 50.00 less 10 % and 3 x 1.00 less 1.00, at 19 %; 2 x 50.00 untaxed."""
    rate = TaxRateFactory.create()
    taxed = {"tax_rate_id": rate.id, "quantity": 3 * SCALE}
    return make_issued(
        user=person,
        reference="PO 7",
        lines=(
            line_input(**taxed, discount_type="percent", discount_value=1000, unit="h"),
            line_input(**taxed, unit_price=100, discount_type="amount", discount_value=100),
            line_input(),
        ),
    )


def issue(draft: Document) -> Document:
    return issue_document(draft, clock=at(ISSUED_AT))


def amounts_of(document: Document) -> tuple[list[tuple[int, ...]], list[tuple[object, ...]]]:
    lines, rows = document.lines.values_list(*LINE_AMOUNTS), document.tax_rows.all()
    return list(lines), list(rows.values_list(*TAX_AMOUNTS))


def totals_of(document: Document) -> list[int]:
    return [getattr(document, name) for name in TOTALS]


def is_nothing_left(invoice: Document) -> bool:
    left = read_balance(invoice).left
    amounts = [left.net_total, left.discount_total, left.tax_total, left.national_tax]
    return not any([*amounts, *(part.quantity for part in left.lines.values())])


def test_a_full_correction_repeats_the_invoice(person, invoice):
    draft = make_correction(invoice, reason="Never delivered.")
    assert (draft.type, draft.number, draft.customer, draft.corrects) == (
        "credit_note",
        None,
        invoice.customer,
        invoice,
    )
    assert amounts_of(draft) == amounts_of(invoice)
    assert totals_of(draft) == totals_of(invoice) == [23_700, 1_600, 2_603, 26_303]
    issued = issue(draft)
    assert (issued.number, issued.correction_reason) == ("CN-2026-0001", "Never delivered.")
    assert read_document(issued)["corrects"] == {
        "number": "INV-2026-0001",
        "issue_date": "2026-03-02",
    }
    assert is_nothing_left(invoice)
