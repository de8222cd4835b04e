"""From an empty database to a valid e-invoice, with pages alone; an agent writes the draft."""

import re
from html import unescape

import pytest

from invoicing.e_invoices.kinds import Kind
from invoicing.models import Company, Customer, TaxRate
from tests.admin.forms import assert_saved, save, url_of
from tests.admin.test_books_tax_meanings import texts_of
from tests.admin.test_new_connection import ADD, credential_in
from tests.admin.test_switches import turn
from tests.agents import HttpAgent
from tests.factories import UserFactory
from tests.interface.issuing import execute, prepare
from tests.invoicing.e_invoices.rules import RULES, broken_rules, check_schema
from tests.tool_table import SCOPES
from tests.web.forms import main_of, read_form

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

LEITWEG_ID = "04011000-1234512345-06"


@pytest.fixture
def desk(db, sign_in):
    """The browser of the first person, whom the operator made; there is nothing else."""
    return sign_in(UserFactory.create(name="Olivia Halden", is_staff=True, is_superuser=True))


def test_each_missing_fact_is_asked_for_where_it_is_needed(desk):
    assert_saved(save(desk, Company, name="Halden Works", street="Quay 1", country="DE"))
    assert_saved(save(desk, TaxRate, name="Standard rate", percentage="19"))
    wanted = {"country": "DE", "e_invoice": "xrechnung"}
    assert_saved(save(desk, Customer, name="City of Leipzig", street="Markt 1", **wanted))
    agent = connect(desk)
    draft = agent.call("drafts.create", body(), key="draft").data
    asked = prepare(agent, draft["id"], key="first").data
    page = desk.get(address_of(asked))
    company, customer, rate = (each.objects.get() for each in (Company, Customer, TaxRate))
    assert missing_on(page) == [
        "The VAT number or the tax number of your company is missing.",
        "The city of your company is missing.",
        "The postcode of your company is missing.",
        "The contact person of your company is missing.",
        "The phone number of your company is missing.",
        "The e-mail address of your company is missing.",
        "The IBAN of your company is missing.",
        (
            "The buyer reference is missing: for an authority its Leitweg-ID, for others any text"
            " that the customer gave. The draft may have one of its own."
        ),
        "The city of the customer is missing.",
        "The postcode of the customer is missing.",
        "The customer needs an electronic address or an e-mail address.",
        "The tax rate “Standard rate” has no category yet.",
    ]
    assert all(f'href="{url_of(each)}"' in main_of(page) for each in (company, customer, rate))

    address = {"postcode": "20457", "city": "Hamburg", "vat_number": "DE313100002"}
    contact = {"contact_name": "Olivia", "email": "o@halden.example", "phone": "+49 40 669"}
    bank = {"iban": "DE02 1203 0000 0000 2020 51"}
    assert_saved(save(desk, company, **address, **contact, **bank))
    place = {"postcode": "04109", "city": "Leipzig"}
    authority = {"email": "rechnung@leipzig.example", "buyer_reference": LEITWEG_ID}
    assert_saved(save(desk, customer, **place, **authority))
    assert_saved(save(desk, rate, meaning="S", proposed="S", **texts_of("S")))
    asked = prepare(agent, draft["id"], key="second").data
    page = desk.get(address_of(asked))
    assert missing_on(page) == []
    [fingerprint] = re.findall(r'name="fingerprint" value="(\w+)"', page.text)
    decided = desk.post(address_of(asked), {"decision": "approve", "fingerprint": fingerprint})
    assert decided.status_code == 302
    assert execute(agent, asked).status == 200

    shown = desk.get(f"/documents/{draft['id']}")
    [path] = re.findall(r'href="([^"]*xrechnung[^"]*)"', shown.text)
    xml = desk.get(path).content
    check_schema(xml)
    assert broken_rules(xml, *RULES[Kind.XRECHNUNG]) == []


def connect(desk):
    turn(desk, "access", "on")
    [owner] = Company.objects.values_list("owner_id", flat=True)
    chosen = {"name": "Ledger agent", "acts_as": str(owner), "scopes": SCOPES}
    answer = desk.post(ADD, read_form(desk.get(ADD)) | chosen)
    [credential] = credential_in(answer)
    return HttpAgent(credential)


def body():
    rate = str(TaxRate.objects.get().id)
    line = {"description": "Consulting", "quantity": "1.5", "unit": "h", "unit_price": "12000"}
    return {
        "customer_id": str(Customer.objects.get().id),
        "currency_code": "EUR",
        "issue_date": "2026-03-02",
        "due_date": "2026-04-01",
        "language": "de",
        "line_items": [{**line, "tax_rate_id": rate}],
    }


def address_of(prepared):
    return f"/approvals/{prepared['approval_id']}"


def missing_on(page):
    """Return the sentences of what the page misses for the e-invoice."""
    _, _, notice = main_of(page).partition("this is missing:")
    told = re.findall(r'<div class="text">([^<]+)(?=</div>|<a )', notice.partition("</ul>")[0])
    return [unescape(each).strip() for each in told]
