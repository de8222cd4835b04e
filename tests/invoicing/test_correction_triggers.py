"""No SQL issues a correction above what is left of its invoice."""

from functools import partial

import pytest
from django.db import IntegrityError, transaction

from invoicing.fixed_point import SCALE
from invoicing.models import Document
from invoicing.services.issuing import issue_document
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    TaxRateFactory,
    line_input,
    make_correction,
    make_draft,
    make_issued,
    make_staff,
)
from tests.invoicing import statements
from tests.invoicing.statements import execute

refuse = partial(statements.refuse, told="orrection")

ISSUE = """
    UPDATE invoices_document
    SET status = 'issued', number = 'CN-2026-0009', series_value = 9,
        issued_at = '2026-03-02 10:00:00+00:00',
        series_id = (SELECT series_id FROM invoices_document WHERE number = 'INV-2026-0001')
    WHERE correction_reason = 'Second.'
"""
LINE = """
    UPDATE invoices_line SET {} WHERE position = 0
    AND document_id = (SELECT id FROM invoices_document WHERE correction_reason = 'Second.')
"""
TAX = """
    UPDATE invoices_taxrow SET {}
    WHERE document_id = (SELECT id FROM invoices_document WHERE correction_reason = 'Second.')
"""
DOCUMENT = "UPDATE invoices_document SET {} WHERE correction_reason = 'Second.'"
LINE_OF_ANOTHER = """
    SELECT id FROM invoices_line
    WHERE document_id = (SELECT id FROM invoices_document WHERE number = 'INV-2026-0002')
"""
NUMBERED = "(SELECT id FROM invoices_document WHERE {})"


@pytest.fixture
def second(db) -> Document:
    """A draft that takes back the rest; beside it the first correction, and another invoice."""
    user, rate = make_staff(), TaxRateFactory.create()
    line = line_input(
        quantity=3 * SCALE, discount_type="amount", discount_value=100, tax_rate_id=rate.id
    )
    invoice = make_issued(user=user, lines=(line, line))
    make_issued(user=user, customer=invoice.customer, lines=(line,))
    make_draft(user=user, customer=invoice.customer, lines=(line,), reference="A draft")
    issue_document(make_correction(invoice, SCALE, None), clock=at(ISSUED_AT))
    return make_correction(invoice, reason="Second.")


def test_the_rest_may_be_issued(second):
    assert execute(ISSUE) == 1
    assert Document.objects.filter(status="issued", corrects=second.corrects_id).count() == 2


@pytest.mark.parametrize(
    "change",
    [
        LINE.format("quantity_ten_thousandths = quantity_ten_thousandths + 1"),
        LINE.format("discount_amount = discount_amount + 1"),
        LINE.format("net_amount = net_amount + 1"),
        LINE.format("corrects_id = NULL"),
        LINE.format("tax_rate_id = NULL"),
        LINE.format(f"corrects_id = ({LINE_OF_ANOTHER})"),
        TAX.format("tax_amount = tax_amount + 1"),
        TAX.format("taxable_amount = taxable_amount + 1"),
        DOCUMENT.format("net_total = net_total + 1, grand_total = grand_total + 1"),
        DOCUMENT.format("tax_total = tax_total + 1, grand_total = grand_total + 1"),
        DOCUMENT.format("discount_total = discount_total + 1"),
        DOCUMENT.format("national_tax_total = 1"),
        DOCUMENT.format("currency_code = 'USD'"),
        DOCUMENT.format("corrects_id = " + NUMBERED.format("number = 'INV-2026-0002'")),
        DOCUMENT.format("corrects_id = " + NUMBERED.format("number = 'CN-2026-0001'")),
        DOCUMENT.format("corrects_id = " + NUMBERED.format("reference = 'A draft'")),
    ],
)
def test_nothing_above_the_rest_and_nothing_else_is_issued(second, change):
    assert execute(change) == 1
    refuse(ISSUE)


def test_no_correction_becomes_a_credit_note_that_its_invoice_does_not_count(second):
    refuse(DOCUMENT.format("corrects_id = NULL"))


def test_no_issued_correction_is_inserted(second):
    columns = statements.columns_of(Document)
    other = {
        "id": statements.OTHER_ID,
        "draft_code": "'D-00000000'",
        "number": "'CN-2026-0009'",
        "series_value": "9",
    }
    values = ", ".join(other.get(column, column) for column in columns)
    refuse(
        f"INSERT INTO invoices_document ({', '.join(columns)})"  # noqa: S608 (constants only)
        f" SELECT {values} FROM invoices_document WHERE number = 'CN-2026-0001'"
    )


@pytest.mark.postgresql  # SQLite has one writer at a time, and no levels
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_no_transaction_with_an_old_snapshot_issues_a_correction(second, level):
    def issue() -> None:
        with transaction.atomic():
            execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            execute(ISSUE)

    with pytest.raises(IntegrityError, match="reads what is committed"):
        issue()
