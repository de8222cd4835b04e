"""What a document says, as a summary and read alone."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from invoicing.models import Customer, Document, DocumentType
from invoicing.services.drafts import ConnectionRef
from invoicing.totals import DiscountType
from tests.factories import TaxRateFactory, line_input, make_correction, make_draft, make_issued
from tests.interface.refusals import NO_DRAFT_INVOICE, refusal, seen


@pytest.fixture
def issued(customer):
    """An issued invoice over 3 x 50.00 less 1.50, and 7 % tax on one of two lines."""
    rate = TaxRateFactory.create(name="VAT reduced", percentage_ten_thousandths=70_000)
    discounted = line_input(
        description="Repair\nof the roof",
        quantity=30_000,
        discount_type=DiscountType.AMOUNT,
        discount_value=150,
        tax_rate_id=rate.id,
    )
    return make_issued(
        customer=customer,
        lines=(discounted, line_input(quantity=5_000, unit="h")),
        connection=ConnectionRef(connection_id=uuid4(), connection_name="Ledger agent"),
        notes="With thanks",
        language="de",
        issued_at=datetime(2026, 3, 2, 9, 30, tzinfo=UTC),
    )


def summary_of(document, **fields: Any):
    return {
        "id": str(document.id),
        "type": "invoice",
        "status": "draft",
        "number": None,
        "draft_code": document.draft_code,
        "customer_id": str(document.customer_id),
        "issue_date": "2026-03-02",
        "due_date": "2026-04-01",
        "currency_code": "EUR",
        "minor_unit": 2,
        "net_total": "10000",
        "discount_total": "0",
        "tax_total": "0",
        "grand_total": "10000",
        "lock_version": 1,
        "connection_id": None,
        "href": f"https://invoices.example/documents/{document.id}",
        **fields,
    }


def summary_of_issued(issued):
    return summary_of(
        issued,
        status="issued",
        number="INV-2026-0001",
        net_total="17350",
        discount_total="150",
        tax_total="1040",
        grand_total="18390",
        lock_version=2,
        connection_id=str(issued.connection_id),
    )


@pytest.mark.requirement("document.summaries", "document.summary_fields", "tool.documents_list")
def test_a_list_gives_summaries_in_order_of_creation(agent, customer, issued):
    draft = make_draft(customer=customer)
    credit_note = make_draft(customer=customer, document_type=DocumentType.CREDIT_NOTE)

    answer = agent.call("documents.list")

    assert answer.status == 200
    assert answer.body == {
        "data": [
            summary_of_issued(issued),
            summary_of(draft),
            summary_of(credit_note, type="credit_note"),
        ],
        "next": None,
    }
    assert list(answer.data[0]) == list(summary_of(draft))


@pytest.mark.requirement("document.single_read", "tool.documents_get")
def test_an_issued_invoice_is_read_with_its_lines_and_taxes(agent, issued):
    (taxed, _) = issued.lines.all()
    answer = agent.call("documents.get", id=issued.id)
    assert answer.status == 200
    expected = summary_of_issued(issued) | {
        "language": "de",
        "notes": "With thanks",
        "reference": None,
        "line_items": [
            {
                "description": "Repair\nof the roof",
                "quantity": "3",
                "unit": None,
                "unit_price": "5000",
                "discount_type": "amount",
                "discount_value": "150",
                "tax_rate_id": str(taxed.tax_rate_id),
                "discount_amount": "150",
                "net_amount": "14850",
            },
            {
                "description": "Consulting",
                "quantity": "0.5",
                "unit": "h",
                "unit_price": "5000",
                "discount_type": None,
                "discount_value": None,
                "tax_rate_id": None,
                "discount_amount": "0",
                "net_amount": "2500",
            },
        ],
        "tax_breakdown": [
            {
                "tax_rate_id": str(taxed.tax_rate_id),
                "name": "VAT reduced",
                "percentage": "7",
                "taxable_amount": "14850",
                "tax_amount": "1040",
            }
        ],
        "issued_at": "2026-03-02T09:30:00Z",
    }
    assert answer.body == {"data": expected}
    assert list(answer.data) == list(expected)


def test_a_number_or_code_in_place_of_an_id_is_sent_to_the_search(agent, issued):
    for name in (issued.number, issued.draft_code):
        answer = agent.call("documents.get", id=name)
        assert seen(answer) == refusal("not_found")
        assert "search for what you know by its number" in answer.error["message"]
        found = agent.call("documents.list", {"search": name}).body["data"]
        assert [document["id"] for document in found] == [str(issued.id)]


@pytest.mark.requirement("document.draft_without_number")
def test_a_draft_is_read_without_number_and_time_of_issue(agent, draft):
    data = agent.call("documents.get", id=draft.id).data
    assert (data["status"], data["number"], data["issued_at"]) == ("draft", None, None)
    assert (data["notes"], data["reference"], data["connection_id"]) == (None, None, None)


def test_a_document_names_the_connection_that_made_it(agent, connection, calls):
    created = calls["drafts.create"].made_by(agent).data
    read = agent.call("documents.get", id=created["id"]).data
    assert read["connection_id"] == str(connection.id)
    assert read == created


def test_a_persons_draft_stays_a_persons_when_an_agent_changes_it(agent, calls):
    assert calls["drafts.update"].made_by(agent).data["connection_id"] is None


def make_credit_note(customer: Customer) -> Document:
    return make_draft(customer=customer, document_type=DocumentType.CREDIT_NOTE)


def make_correction_of_one(customer: Customer) -> Document:
    return make_correction(make_issued(customer=customer))


@pytest.mark.parametrize("make", [make_credit_note, make_correction_of_one])
def test_a_credit_note_is_read_and_not_changed(agent, customer, draft_body, make):
    """It has the fields of every other document: what it corrects is for people."""
    credit_note, other = make(customer), make_draft(customer=customer)
    before = agent.call("documents.get", id=credit_note.id)
    known = agent.call("documents.get", id=other.id)
    assert before.data["type"] == "credit_note"
    assert before.data.keys() == known.data.keys()
    assert before.data["line_items"][0].keys() == known.data["line_items"][0].keys()

    update = agent.call(
        "drafts.update", draft_body | {"lock_version": 1}, id=credit_note.id, key="k"
    )

    assert seen(update) == NO_DRAFT_INVOICE
    assert agent.call("documents.get", id=credit_note.id).content == before.content


@pytest.mark.requirement("document.frozen", "draft_input.editable_invoice")
def test_an_issued_invoice_is_not_changed(agent, issued, draft_body):
    before = agent.call("documents.get", id=issued.id)
    for lock_version in (1, 2, 3):
        update = agent.call(
            "drafts.update",
            draft_body | {"lock_version": lock_version},
            id=issued.id,
            key=f"k{lock_version}",
        )
        assert seen(update) == NO_DRAFT_INVOICE
    assert agent.call("documents.get", id=issued.id).content == before.content


def test_the_documents_of_an_inactive_customer_stay_readable(agent, draft, customer):
    Customer.objects.filter(pk=customer.pk).update(is_active=False)
    assert agent.call("documents.get", id=draft.id).data["id"] == str(draft.id)
    assert [each["id"] for each in agent.call("documents.list").data] == [str(draft.id)]


def test_a_later_name_of_a_rate_changes_no_document(agent, issued):
    (rate,) = (row.tax_rate for row in issued.tax_rows.all())
    before = agent.call("documents.get", id=issued.id).content
    rate.name = "Renamed past the services"
    rate.save()
    assert agent.call("documents.get", id=issued.id).content == before


def test_amounts_come_with_the_digits_of_their_currency(agent):
    for currency, digits in {"USD": 2, "JPY": 0, "BHD": 3, "CLP": 0, "HUF": 2}.items():
        data = agent.call("documents.get", id=make_draft(currency_code=currency).id).data
        told = (data["currency_code"], data["minor_unit"], data["grand_total"])
        assert told == (currency, digits, "10000")
