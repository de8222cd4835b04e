"""Tax rates and the company as administrators change them; series as they do not."""

import pytest
from django.db import transaction

from invoicing.errors import ConflictError
from invoicing.models import Company, Document, NumberSeries, TaxRate
from invoicing.services.issue_warnings import Check
from invoicing.services.taxes import change_tax_rate
from tests.admin.forms import add_url_of, assert_saved, form_of, refused, save, url_of
from tests.administration import acts_written, make_administrator
from tests.factories import TaxRateFactory, UserFactory, line_input, make_draft, make_issued
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db


def test_a_new_rate_is_added_and_named_as_it_is(desk, company):
    said = save(desk, TaxRate, name="Sales tax", percentage="8.875")
    assert_saved(said)
    rate = TaxRate.objects.get()
    assert (rate.name, rate.percentage, rate.is_active) == ("Sales tax", "8.875", True)
    assert acts_written() == [("tax_rate:created", str(rate.id), "")]
    assert "Sales tax (8.875 %)" in desk.get(said["Location"]).text


def test_the_rate_that_replaces_another_is_the_one_that_is_named(desk, tax_rate):
    said = save(desk, tax_rate, percentage="20.5")
    assert f"{tax_rate.name} (20.5 %)" in desk.get(said["Location"]).text


def test_another_percentage_is_another_rate(desk, tax_rate):
    make_draft(lines=(line_input(tax_rate_id=tax_rate.id),))
    assert_saved(save(desk, tax_rate, percentage="20.5"))
    old, new = TaxRate.objects.order_by("id")
    assert (old.id, old.percentage, old.is_active) == (tax_rate.id, "19", False)
    assert (new.name, new.percentage, new.is_active) == (tax_rate.name, "20.5", True)
    assert list(Document.objects.values_list("tax_rows__tax_rate", flat=True)) == [tax_rate.id]
    assert acts_written() == [("tax_rate:changed", str(new.id), "percentage_ten_thousandths")]


def test_another_name_is_another_rate_too(desk, tax_rate):
    assert_saved(save(desk, tax_rate, name="VAT"))
    assert sorted(TaxRate.objects.values_list("name", "is_active")) == [
        ("VAT", True),
        ("VAT standard", False),
    ]


def test_a_rate_is_retired_and_taken_up_again_as_it_is(desk, tax_rate):
    assert_saved(save(desk, tax_rate, is_active=None))
    assert not TaxRate.objects.get().is_active
    tax_rate.refresh_from_db()
    assert_saved(save(desk, tax_rate, is_active="on"))
    assert TaxRate.objects.get().is_active


def test_the_owner_reads_what_the_company_lacks_before_anything_is_written(owner_desk, company):
    rate = TaxRateFactory.create(category="")
    unsaid = [Check.TAXES_UNKNOWN, Check.TAXES_UNTAXED]
    Company.objects.update(iban="", street="")
    missing = [Check.COMPANY_STREET, Check.COMPANY_BANK]
    page = main_of(owner_desk.get(url_of(company)))
    assert [check for check in Check if str(check.label) in page] == [*missing, *unsaid]
    TaxRate.objects.filter(pk=rate.pk).update(is_active=False)
    Company.objects.update(iban="DE02120300000000202051", street="Quay 1", is_small_business=True)
    page = main_of(owner_desk.get(url_of(company)))
    assert [check for check in Check if str(check.label) in page] == []
    assert "please complete this" not in page


def test_a_retired_rate_does_not_change(desk):
    rate = TaxRateFactory.create(is_active=False)
    assert "Those of an inactive rate cannot be changed." in main_of(desk.get(url_of(rate)))
    said = refused(lambda: save(desk, rate, percentage="7"))
    assert said == {"__all__": ["This rate is no longer active. Add a new one instead."]}


def test_a_rate_that_was_replaced_meanwhile_is_not_replaced_again(tax_rate):
    TaxRate.objects.update(is_active=False)
    with pytest.raises(ConflictError), transaction.atomic():
        change_tax_rate(tax_rate, {"name": "VAT"})
    assert list(TaxRate.objects.values_list("name", "is_active")) == [(tax_rate.name, False)]


@pytest.mark.sqlite  # a form is read and shown alike on both databases
@pytest.mark.sqlite  # a form is read and shown alike on both databases
@pytest.mark.sqlite  # a form is read and shown alike on both databases
@pytest.mark.parametrize(
    "percentage", ["", "x", "-1", "1,234", "1.23456", "101", "1e1", "9" * 11, "\u0661", "\0"]
)
def test_a_percentage_is_typed_without_doubt(desk, tax_rate, percentage):
    assert list(refused(lambda: save(desk, tax_rate, percentage=percentage))) == ["percentage"]


def test_another_address_of_the_company_makes_open_approvals_stale(
    desk, agent, connection, draft_body, company
):
    draft = agent.call("drafts.create", draft_body, key="draft").data
    prepared = agent.call(
        "documents.issue_prepare", {"lock_version": 1}, id=draft["id"], key="prepare"
    ).data
    assert_saved(save(desk, company, street="Harbour Street 2"))
    approval = agent.call("approvals.get", id=prepared["approval_id"]).data
    told = "A change makes approvals that are not executed yet stale."
    assert main_of(desk.get(url_of(company))).count(told) == 1
    assert (approval["status"], approval["stale_fields"]) == ("stale", ["seller.address"])
    assert acts_written()[-1] == ("company:changed", str(company.id), "street")


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("MT84 MALT 0110 0001 2345 MTLC AST0 01S", "MT84MALT011000012345MTLCAST001S"),
        ("mt84malt011000012345mtlcast001s", "MT84MALT011000012345MTLCAST001S"),
        ("DE02\N{NO-BREAK SPACE}1203 0000-0000 2020 51", "DE02120300000000202051"),
        (" ", ""),
    ],
    ids=["in groups", "in small letters", "pasted", "none"],
)
def test_an_iban_is_kept_without_what_was_typed_between_its_parts(desk, company, typed, kept):
    company.iban = "GB82WEST12345698765432"
    company.save()
    assert_saved(save(desk, company, iban=typed))
    company.refresh_from_db()
    assert company.iban == kept


@pytest.mark.parametrize(
    "typed",
    ["DE02120300000000202052", "DE0212030000000020205", "DE\u0660\u0662120300000000202051", "-"],
    ids=["a wrong digit", "a digit too few", "digits of another script", "no number"],
)
def test_a_mistyped_iban_is_refused(desk, company, typed):
    said = refused(lambda: save(desk, company, iban=typed))
    assert said == {
        "iban": ["This is not an IBAN. Compare it with the one that your bank gave you."]
    }


def test_a_bic_is_checked_and_kept_in_capitals(desk, company):
    assert_saved(save(desk, company, bic="deut deff 500"))
    company.refresh_from_db()
    assert company.bic == "DEUTDEFF500"
    said = refused(lambda: save(desk, company, bic="DEUTDEF"))
    assert said == {"bic": ["This is not a BIC: that has 8 or 11 letters and digits."]}


def test_the_form_of_the_company_shows_its_iban_in_groups_of_four(desk, company):
    shown = form_of(desk.get(url_of(company)))["iban"]
    assert shown == "DE02 1203 0000 0000 2020 51"
    assert_saved(save(desk, company, city="Halden"))
    assert acts_written()[-1] == ("company:changed", str(company.id), "city")


def test_the_form_of_the_company_moves_no_ownership(desk, company, superuser, owner):
    assert_saved(save(desk, company, owner=str(superuser.pk), name="Halden"))
    assert Company.objects.get().owner == owner


def test_a_second_company_is_not_founded(desk, company):
    assert desk.get(add_url_of(Company)).status_code == 403
    assert desk.post(add_url_of(Company), {"name": "Second"}).status_code == 403
    assert Company.objects.count() == 1


def test_the_first_superuser_founds_the_company_and_owns_it(sign_in, db):
    founder = UserFactory.create(is_staff=True, is_superuser=True)
    desk = sign_in(founder)
    form = {**form_of(desk.get(add_url_of(Company))), "name": "Halden Works"}
    assert_saved(desk.post(add_url_of(Company), form))
    company = Company.objects.get()
    assert (company.name, company.owner) == ("Halden Works", founder)
    assert acts_written() == [("company:created", str(company.id), "")]


def test_an_administrator_founds_nothing(sign_in, db):
    desk = sign_in(make_administrator("add_company", "view_company"))
    assert desk.post(add_url_of(Company), {"name": "Mine"}).status_code == 403
    assert not Company.objects.exists()


def test_a_series_shows_its_last_number_and_takes_none(desk, company):
    make_issued()
    series = NumberSeries.objects.get()
    page = main_of(desk.get("/admin/invoices/numberseries/"))
    assert "2026" in page
    assert "<h1>Invoice 2026</h1>" in main_of(desk.get(url_of(series)))
    assert desk.post(url_of(series), {"last_value": "7"}).status_code == 403
    assert NumberSeries.objects.get().last_value == 1


def test_people_are_chosen_by_name_and_address(desk, customer, delegate):
    page = main_of(desk.get(url_of(customer)))
    assert f"{delegate.name} ({delegate.email})" in page
