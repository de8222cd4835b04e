"""The first line of a new draft begins with the tax rate that the person used last."""

import pytest

from invoicing.models import TaxRate
from tests.factories import TaxRateFactory, UserFactory, line_input, make_connection_ref, make_draft
from tests.web.forms import read_form

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


def rate_for(desk) -> str:
    return read_form(desk.get("/documents/new"))["line-0-tax_rate_id"]


def test_a_first_line_has_the_tax_of_their_last_draft(writer_desk, writer, customer, tax_rate):
    assert rate_for(writer_desk) == ""
    make_draft(user=writer, customer=customer, lines=(line_input(tax_rate_id=tax_rate.id),))
    newer = TaxRateFactory.create(name="Newer")
    lines = (line_input(tax_rate_id=newer.id), line_input())
    make_draft(user=writer, customer=customer, lines=lines)
    assert rate_for(writer_desk) == str(newer.id)


def test_a_first_line_has_no_tax_that_was_let_go(writer_desk, writer, customer, tax_rate):
    make_draft(user=writer, customer=customer, lines=(line_input(tax_rate_id=tax_rate.id),))
    TaxRate.objects.update(is_active=False)
    assert rate_for(writer_desk) == ""


def test_a_first_line_has_nothing_of_others_of_agents_or_of_what_is_out_of_reach(
    writer_desk, writer, colleague, customer, tax_rate, sign_in
):
    taxed = {"customer": customer, "lines": (line_input(tax_rate_id=tax_rate.id),)}
    make_draft(user=colleague, **taxed)
    make_draft(user=writer, connection=make_connection_ref(), **taxed)
    assert rate_for(writer_desk) == ""
    manager = UserFactory.create(permissions=["invoices.view_document", "invoices.manage"])
    customer.account_managers.add(manager)
    make_draft(user=manager, **taxed)
    assert rate_for(sign_in(manager)) == str(tax_rate.id)
    customer.account_managers.remove(manager)
    assert rate_for(sign_in(manager)) == ""
