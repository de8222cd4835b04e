import pytest

from tests.snapshots import take_snapshot


@pytest.mark.requirement("tool.drafts_create")
def test_a_draft_is_created_with_all_totals(agent, connection, draft_body, customer, tax_rate):
    answer = agent.call("drafts.create", draft_body, key="first")

    data = answer.data
    assert answer.status == 201
    assert data == {
        "id": data["id"],
        "type": "invoice",
        "status": "draft",
        "number": None,
        "draft_code": data["draft_code"],
        "customer_id": str(customer.id),
        "issue_date": "2026-03-02",
        "due_date": "2026-04-01",
        "currency_code": "EUR",
        "minor_unit": 2,
        "net_total": "1417",
        "discount_total": "158",
        "tax_total": "269",
        "grand_total": "1686",
        "lock_version": 1,
        "connection_id": str(connection.id),
        "href": f"https://invoices.example/documents/{data['id']}",
        "language": "en",
        "notes": "Thank you.",
        "reference": "PO 7",
        "line_items": [
            {
                "description": "Consulting",
                "quantity": "1.5",
                "unit": "h",
                "unit_price": "1050",
                "discount_type": "percent",
                "discount_value": "1000",
                "tax_rate_id": str(tax_rate.id),
                "discount_amount": "158",
                "net_amount": "1417",
            }
        ],
        "tax_breakdown": [
            {
                "tax_rate_id": str(tax_rate.id),
                "name": "VAT standard",
                "percentage": "19",
                "taxable_amount": "1417",
                "tax_amount": "269",
            }
        ],
        "issued_at": None,
    }


@pytest.mark.requirement("draft.only_a_draft", "draft.not_sent_not_paid")
def test_a_draft_is_a_draft_and_nothing_else(agent, draft_body, mailoutbox):
    before = take_snapshot()

    answer = agent.call("drafts.create", draft_body, key="first")

    assert (answer.data["status"], answer.data["number"]) == ("draft", None)
    after = take_snapshot()
    assert {table for table in after if after[table] != before[table]} == {
        "invoices.Document",
        "invoices.SearchWord",
        "invoices.Line",
        "invoices.TaxRow",
        "agent_access.Receipt",
    }
    assert mailoutbox == []
