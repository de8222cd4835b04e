"""What a written draft has at hand is what was written."""

import pytest
from django.db import DataError, transaction
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from invoicing.models import Document, Line, Parts
from invoicing.services.document_parts import insert_parts, parts_of
from invoicing.services.drafts import update_draft
from invoicing.totals import DiscountType
from tests.factories import (
    CustomerFactory,
    TaxRateFactory,
    draft_input,
    line_input,
    make_draft,
    make_staff,
)

pytestmark = pytest.mark.django_db


def columns_of(kinds):
    """Return the parts of each kind by their columns."""
    return [
        [
            {name: value for name, value in vars(part).items() if not name.startswith("_")}
            for part in parts
        ]
        for parts in kinds
    ]


def test_the_parts_at_hand_are_those_that_are_kept():
    rates = [TaxRateFactory.create(), TaxRateFactory.create(), None]
    kinds = [(DiscountType.PERCENT, 1000), (DiscountType.AMOUNT, 1), (None, None)]
    lines = tuple(
        line_input(
            description=f"Ünïcode \U0001f680 {{\"'\\\\,}}\n{number}",
            unit="" if number % 2 else "h",
            tax_rate_id=rate and rate.id,
            discount_type=kind,
            discount_value=value,
        )
        for number, (rate, (kind, value)) in enumerate(zip(rates, kinds, strict=True))
    )
    written = make_draft(lines=lines)
    with CaptureQueriesContext(database) as captured:
        at_hand = columns_of(parts_of(written))
    assert len(captured) == 0
    assert at_hand == columns_of(parts_of(Document.objects.get(pk=written.pk)))
    assert at_hand == columns_of((written.lines.all(), written.tax_rows.all()))
    assert [len(parts) for parts in at_hand] == [3, 2]


def test_a_document_that_is_read_anew_has_its_parts_read_anew():
    user, customer = make_staff(), CustomerFactory.create()
    written = make_draft(user=user, customer=customer)
    changed = draft_input(customer, line_input(unit_price=7))
    update_draft(user, written.pk, changed, lock_version=1)
    written.refresh_from_db()
    assert [line.unit_price for line in parts_of(written).lines] == [7]


@pytest.mark.parametrize("count", [1, 3])
def test_lines_without_discount_and_tax_rate_are_kept(count):
    lines = (line_input(tax_rate_id=None, discount_type=None, discount_value=None),) * count
    written = make_draft(lines=lines)
    kept = Line.objects.filter(document=written, discount_type=None, tax_rate=None)
    assert kept.count() == count


@pytest.mark.postgresql
def test_a_unit_that_is_too_long_is_refused_and_not_cut():
    document = make_draft()
    line = Line(document=document, position=9, unit="u" * 21, description="x")
    line.quantity_ten_thousandths = line.unit_price = 1
    line.discount_amount = line.net_amount = 0
    with pytest.raises(DataError), transaction.atomic():
        insert_parts(document, Parts([line], []))
    assert document.lines.model.objects.filter(document=document).count() == 1
