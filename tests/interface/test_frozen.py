"""An issued invoice stays as it was issued, to the byte."""

import pytest

from invoicing.models import Company, Customer, TaxRate
from tests.approvals import prepare
from tests.factories import line_input, make_draft


@pytest.mark.requirement("issue.numbers_and_freezes")
def test_an_issued_invoice_answers_the_same_bytes_whatever_changes_around_it(
    agent, delegate, customer, tax_rate
):
    line = line_input(tax_rate_id=tax_rate.id)
    prepared = prepare(make_draft(user=delegate, customer=customer, lines=(line,)), user=delegate)
    prepared.decide()
    prepared.execute()

    def read() -> list[bytes]:
        document = agent.call("documents.get", id=prepared.approval.target)
        listed = agent.call("documents.list", {"search": "Acme"})
        assert (document.status, listed.status, len(listed.data)) == (200, 200, 1)
        return [document.content, listed.content]

    before = read()
    TaxRate.objects.update(
        name="VAT of another year", percentage_ten_thousandths=210_000, is_active=False
    )
    Customer.objects.update(name="Renamed", street="Moved", vat_number="", is_active=False)
    Company.objects.update(name="Renamed", street="Moved", vat_number="")

    assert read() == before
