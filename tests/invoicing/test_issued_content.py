"""The digest of an issued document covers all that it says, however it was issued."""

from typing import Any

import pytest

from invoicing.models import Company, Customer, Document, Line, Logo, TaxRate, TaxRow
from invoicing.services.document_facts import read_parts
from invoicing.services.issued_content import digest_content, read_content
from invoicing.services.issuing import issue_document
from tests.agent_access.tampering import without_triggers
from tests.approvals import A_MINUTE_LATER, digest_issued
from tests.clocks import at
from tests.factories import line_input, make_draft

# For every table of a document: each column that issuing freezes, with another value.
CHANGES: dict[type[Any], dict[str, Any]] = {
    Document: {
        "type": "credit_note",
        "number": "INV-2026-0002",
        "series_value": 2,
        "issued_at": A_MINUTE_LATER.replace(hour=1),
        "issued_by": None,
        "connection_id": "0190f1f0-0000-7000-8000-000000000000",
        "issue_date": "2026-03-01",
        "due_date": "2026-12-31",
        "currency_code": "USD",
        "minor_unit": 3,
        "language": "de",
        "notes": "x",
        "reference": "x",
        "discount_total": 1,
        "seller_name": "x",
        "seller_address": "x",
        "seller_iban": "x",
        "buyer_name": "x",
        "buyer_address": "x",
        "buyer_vat_number": "x",
        "seller_parts": {"city": "x"},
        "buyer_parts": {"city": "x"},
        "supply_date": "2026-03-01",
        "untaxed_reason": "x",
        "seller_logo": None,
    },
    Line: {"description": "x", "quantity_ten_thousandths": 7, "unit": "x", "unit_price": 7},
    TaxRow: {"name": "x", "percentage_ten_thousandths": 7, "reason": "x", "tax_amount": 7},
}


@pytest.fixture
def issued(delegate, customer, tax_rate):
    Logo.objects.create(digest="0" * 64, png=b"")
    Company.objects.update(logo="0" * 64, phone="+49 40 123")
    TaxRate.objects.update(category="S", names={"en": "VAT"})
    lines = (line_input(tax_rate_id=tax_rate.id), line_input())
    draft = make_draft(user=delegate, customer=customer, lines=lines)
    return issue_document(draft, clock=at(A_MINUTE_LATER))


def test_the_digest_at_the_moment_of_issuing_is_that_of_what_is_stored(issued):
    at_once = digest_content(issued)
    assert digest_issued(issued.pk) == at_once
    # Nothing of it is read from what may still change.
    Customer.objects.update(name="Somebody Else")
    Company.objects.update(name="Somebody Else", logo=None)
    TaxRate.objects.update(name="x", is_active=False)
    assert digest_issued(issued.pk) == at_once


@pytest.mark.parametrize(
    ("model", "column"), [(model, column) for model, all_ in CHANGES.items() for column in all_]
)
def test_a_column_changed_later_changes_the_digest(issued, model, column):
    before = digest_issued(issued.pk)
    with without_triggers("invoices"):
        assert model.objects.update(**{column: CHANGES[model][column]})
    assert digest_issued(issued.pk) != before


def test_the_content_names_what_issuing_gave_beside_the_facts(issued):
    document = Document.objects.get()
    read_parts([document])
    content = read_content(document)
    facts, parts = content.pop("facts"), (content.pop("seller_parts"), content.pop("buyer_parts"))
    assert content == {
        "id": str(issued.pk),
        "type": "invoice",
        "number": "INV-2026-0001",
        "series": str(issued.series_id),
        "value": 1,
        "made_at": "2026-03-02T09:01:00+00:00",
        "made_by": str(issued.created_by_id),
        "connection_id": None,
    }
    assert parts == (issued.seller_parts, issued.buyer_parts)
    assert facts["customer"]["name"] == "Acme Ltd"
    assert not {"status", "lock_version"} & facts.keys()
