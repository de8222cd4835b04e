"""Facts that the application keeps and that leave through no tool."""

from datetime import date
from zlib import crc32

import pytest

from invoicing.draft_fields import PersonInput
from invoicing.models import Company, Customer, Document, TimeOff, User
from invoicing.services.issuing import issue_document
from tests.clocks import at
from tests.factories import ISSUED_AT, TeamFactory, make_draft

PARTY = (
    *("street", "address_line", "postcode", "city", "region", "country", "vat_number"),
    *("tax_number", "email", "electronic_address"),
)

MARKERS = {
    Company: (
        *PARTY,
        *("iban", "bic", "registration", "contact_name", "phone", "footer_text"),
    ),
    Customer: (*PARTY, "customer_number", "buyer_reference"),
    User: ("private_email", "private_phone", "password"),
    Document: ("internal_notes", "buyer_reference"),
}
# Both found in every answer that gives the record, so that the search for markers is no idle one.
PUBLIC = {Document: ("notes", "reference"), User: ("job_title",)}

RATE = 987_654_321
TIME_OFF = date(2031, 1, 17)
OF_SUPPLY = date(2031, 2, 18)


def marker(model, column):
    """Return a text that stands nowhere else and fits the shortest column but the country's."""
    return "QZ" if column == "country" else f"Q{crc32(f'{model.__name__}.{column}'.encode()):08x}Q"


@pytest.fixture
def marked(delegate, company, customer):
    """Mark every private column, and return an issued invoice and a draft."""
    for model in (Company, Customer, User):
        columns = MARKERS[model] + PUBLIC.get(model, ())
        marks = {column: marker(model, column) for column in columns}
        if model is User:
            # Otherwise another password would end the connection.
            marks |= {"password_upgrades": 1, "hourly_rate": RATE}
        model.objects.update(**marks)
    TimeOff.objects.create(person=delegate, start_date=TIME_OFF, end_date=TIME_OFF, kind="sickness")
    TeamFactory.create(leads=[delegate], members=[delegate])
    drafts = [make_draft(customer=customer) for _ in range(2)]
    columns = MARKERS[Document] + PUBLIC[Document]
    Document.objects.update(
        **{column: marker(Document, column) for column in columns},
        **dict.fromkeys(("supply_date", "supply_end_date", "exchange_rate_date"), OF_SUPPLY),
        delivery_country="QZ",
        exchange_rate_base="QZQ",
        exchange_rate_millionths=RATE,
    )
    Customer.objects.filter(pk=customer.pk).update(is_active=True)
    return issue_document(Document.objects.get(pk=drafts[0].pk), clock=at(ISSUED_AT)), drafts[1]


def read_stale(agent, prepared):
    """Move the customer, and the account; return what is told of the approval then stale."""
    Customer.objects.update(street=marker(Customer, "street") + " 2")
    Company.objects.update(iban=marker(Company, "iban") + "2")
    answer = agent.call("approvals.get", id=prepared["approval_id"])
    assert answer.data["stale_fields"] == ["seller.iban", "customer.address"]
    return answer


@pytest.mark.requirement("document.private_facts", "person.private_facts", "error.no_leaks")
def test_no_tool_gives_a_private_fact(agent, connection, delegate, colleague, marked, calls):
    issued, _ = marked
    kept_back = marker(Document, "internal_notes")
    Document.objects.exclude(pk=issued.pk).update(internal_notes=kept_back)
    assert issued.seller_address.startswith(marker(Company, "street"))
    assert issued.seller_iban == marker(Company, "iban")
    assert issued.buyer_vat_number == marker(Customer, "vat_number")

    first = {tool: call.made_by(agent) for tool, call in calls.items()}
    answers = [*first.values(), read_stale(agent, first["documents.issue_prepare"].data)]
    answers += [agent.call("documents.get", id=document.id) for document in marked]
    answers += [agent.call("people.get", id=person.id) for person in (delegate, colleague)]
    assert all(answer.status < 400 for answer in answers)
    told = "\n".join(answer.content.decode() for answer in answers)

    for model, columns in PUBLIC.items():
        for column in columns:
            assert f'"{marker(model, column)}"' in told
    for model, columns in MARKERS.items():
        for column in columns:
            quote = '"' if column == "country" else ""
            assert f"{quote}{marker(model, column)}{quote}" not in told, (model, column)
    assert str(RATE) not in told
    assert "987.654321" not in told
    assert "QZQ" not in told
    assert TIME_OFF.isoformat() not in told
    assert OF_SUPPLY.isoformat() not in told
    assert "sickness" not in told
    assert agent.credential not in told
    assert connection.credential_digest not in told
    assert "session_revision" not in told
    assert [name for name in PersonInput.model_fields if f'"{name}"' in told] == []
