"""E-invoices of documents that were drafted and issued: what was frozen is what they say."""

from collections import Counter
from datetime import date
from typing import Any

import pytest

from invoicing.access import Permission
from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.writing import missing_facts, write_e_invoice
from invoicing.fixed_point import SCALE
from invoicing.models import Company, Customer, Document, DocumentStatus, TaxRate
from invoicing.sample_company.loading import load_sample_company
from invoicing.services.document_facts import read_document, read_facts
from invoicing.services.issuing import issue_document
from invoicing.totals import DiscountType
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CompanyFactory,
    CustomerFactory,
    TaxRateFactory,
    line_input,
    make_correction,
    make_draft,
    make_staff,
)
from tests.invoicing.e_invoices.rules import RULES, broken_rules, check_schema
from tests.invoicing.e_invoices.samples import Sample
from tests.invoicing.e_invoices.test_validity import check

BUYER_REFERENCE = (
    "The buyer reference is missing: for an authority its Leitweg-ID, for others any text that the"
    " customer gave. The draft may have one of its own."
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def company():
    return CompanyFactory.create(
        email="invoices@halden.example",
        electronic_address="DE123456789",
        electronic_address_scheme="9930",
        contact_name="Dana Okonkwo-Reiß",
        phone="+49 40 123456",
        national_currency="EUR",
        untaxed_category="E",
        untaxed_reasons={"de": "Steuerfrei nach § 4 Nr. 21 UStG"},
    )


@pytest.fixture
def customer():
    return CustomerFactory.create(
        electronic_address="12345678",
        electronic_address_scheme="0106",
        buyer_reference="04011000-12345-03",
    )


@pytest.fixture
def lines(company):
    """A discounted line of 19 %, one with a reverse charge, and one without a rate."""
    standard = TaxRateFactory.create(category="S")
    reverse = TaxRateFactory.create(
        percentage_ten_thousandths=0,
        category="AE",
        reasons={"de": "Steuerschuldnerschaft des Leistungsempfängers"},
    )
    discount = {"discount_type": DiscountType.PERCENT, "discount_value": 1250}
    return (
        line_input(tax_rate_id=standard.id, quantity=3 * SCALE // 2, unit="Std.", **discount),
        line_input(tax_rate_id=reverse.id),
        line_input(),
    )


def issue(draft: Document, **columns: Any) -> Document:
    """Issue a draft, of which these columns were changed first, and return it as it was saved."""
    Document.objects.filter(pk=draft.pk).update(**columns)
    issue_document(Document.objects.get(pk=draft.pk), clock=at(ISSUED_AT))
    return Document.objects.get(pk=draft.pk)


def test_an_issued_document_is_valid_whatever_changed_since(customer, lines):
    document = issue(
        make_draft(customer=customer, lines=lines, language="de", currency_code="USD"),
        exchange_rate_millionths=920_000,
        exchange_rate_base="USD",
        exchange_rate_date=date(2026, 3, 1),
        supply_date=date(2026, 2, 27),
    )
    Company.objects.update(country="", iban="", contact_name="", untaxed_category="")
    Customer.objects.update(country="", vat_number="", buyer_reference="")
    TaxRate.objects.update(category="")
    facts = read_document(document)
    assert facts["national_tax_total"] == 1147
    check(Sample(document, facts))


@pytest.mark.prove
def test_a_draft_lacks_what_it_would_lack_if_it_were_issued_now(customer, lines):
    draft = make_draft(customer=customer, lines=lines, language="de")
    assert lacking(draft) == []
    Company.objects.update(contact_name="", untaxed_category="")
    TaxRate.objects.filter(category="AE").update(category="", name="Elsewhere")
    Customer.objects.update(buyer_reference="")
    draft = Document.objects.get()
    assert lacking(draft) == [
        "The tax rate “Elsewhere” has no category yet.",
        "A line without a tax rate has no category yet.",
        BUYER_REFERENCE,
        "The contact person of your company is missing.",
    ]


def lacking(draft: Document) -> list[str]:
    [facts] = read_facts([draft])
    return [each.text for each in missing_facts(draft, facts, Kind.XRECHNUNG)]


def test_the_same_document_is_always_the_same_bytes(customer, lines):
    issued = issue(make_draft(customer=customer, lines=lines, language="de"))
    first, second = (
        write_e_invoice(document, read_document(document), Kind.PEPPOL)
        for document in (issued, Document.objects.get())
    )
    assert first == second


# Each kind that it may have: all of the sample company are judged as Factur-X at least.
@pytest.mark.sqlite
def test_every_issued_document_of_the_sample_company_is_a_valid_e_invoice():
    load_sample_company(password="of-all-of-them", documents=60)
    judged: Counter[Kind] = Counter()
    for document in Document.objects.filter(status=DocumentStatus.ISSUED, minor_unit__lte=2):
        facts = read_document(document)
        assert missing_facts(document, facts, Kind.FACTUR_X) == []
        for kind in Kind:
            if not missing_facts(document, facts, kind):
                xml = write_e_invoice(document, facts, kind)
                check_schema(xml)
                assert broken_rules(xml, *RULES[kind]) == []
                judged[kind] += 1
    assert judged == {Kind.FACTUR_X: 41, Kind.XRECHNUNG: 4, Kind.PEPPOL: 3}


def test_corrections_in_steps_are_valid_e_invoices(customer, lines):
    person = make_staff(Permission.VIEW_DOCUMENT, Permission.MANAGE, Permission.FINALIZE)
    invoice = issue(
        make_draft(user=person, customer=customer, lines=lines, language="de", currency_code="USD"),
        exchange_rate_millionths=920_000,
        exchange_rate_base="USD",
        supply_date=date(2026, 2, 27),
    )
    for quantities in ((3333, 10_000, None), (3333, None, 1), ()):
        credit_note = issue(make_correction(invoice, *quantities, user=person))
        check(Sample(credit_note, read_document(credit_note)))


@pytest.mark.usefixtures("company")
def test_a_last_correction_that_has_what_others_rounded_away_is_no_e_invoice(customer):
    rate = TaxRateFactory.create(percentage_ten_thousandths=10 * SCALE, category="S")
    person = make_staff(Permission.VIEW_DOCUMENT, Permission.MANAGE, Permission.FINALIZE)
    line = line_input(tax_rate_id=rate.id, quantity=10 * SCALE, unit_price=4)
    draft = make_draft(user=person, customer=customer, lines=(line,), currency_code="JPY")
    invoice = issue(draft)
    *steps, last = (
        issue(make_correction(invoice, *quantities, user=person))
        for quantities in ((SCALE,), (SCALE,), (SCALE,), ())
    )
    assert [each.tax_total for each in (*steps, last)] == [0, 0, 0, 4]
    for each in steps:
        check(Sample(each, read_document(each)))
    assert [each.text for each in missing_facts(last, read_document(last), Kind.FACTUR_X)] == [
        "A tax is rounded by more than e-invoices allow: there is a PDF only."
    ]
