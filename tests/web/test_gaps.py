"""What is missing is said where it is needed, with a link for who may mend it, or whom to ask."""

from datetime import date
from typing import Any

import pytest

from invoicing.access import Permission
from invoicing.models import Company, Customer, TaxRate, User
from tests.factories import CustomerFactory, UserFactory, make_draft, make_issued
from tests.web.forms import main_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

NO_RATE = "There is no tax rate yet, so every line is without tax."
NO_CUSTOMER = "There is no customer yet whom you may invoice."
ASK = "Ask the owner, Olivia Owner."
FIRST = "It gets the number INV-2026-0001, the first of its series."


@pytest.fixture
def writer(owner: User) -> User:
    return UserFactory.create(permissions=tuple(Permission))


@pytest.fixture
def writing_owner(owner: User) -> User:
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    return User.objects.get(pk=owner.pk)


def draft_form(desk: Any) -> str:
    return main_of(desk.get("/documents/new"))


def test_who_may_mend_it_gets_links(sign_in, writing_owner):
    shown = draft_form(sign_in(writing_owner))
    assert NO_RATE in shown
    assert 'href="/setup/taxes"' in shown
    assert NO_CUSTOMER in shown
    assert "Ask the owner" not in shown


def test_who_may_not_mend_it_is_told_whom_to_ask_and_gets_no_link(sign_in, writer):
    shown = draft_form(sign_in(writer))
    assert all(each in shown for each in (NO_RATE, NO_CUSTOMER, ASK))
    assert "/setup/taxes" not in shown


def test_what_is_there_is_not_asked_for(sign_in, writer, tax_rate, customer):
    shown = draft_form(sign_in(writer))
    assert all(each not in shown for each in (NO_RATE, NO_CUSTOMER, ASK))


def test_a_small_business_lacks_no_rate_and_an_inactive_rate_is_none(sign_in, writer, tax_rate):
    desk = sign_in(writer)
    TaxRate.objects.update(is_active=False)
    assert NO_RATE in draft_form(desk)
    Company.objects.update(is_small_business=True)
    assert NO_RATE not in draft_form(desk)


def test_a_customer_out_of_reach_is_not_told_of(sign_in, stranger, tax_rate):
    CustomerFactory.create()
    desk = sign_in(stranger)
    assert NO_CUSTOMER in draft_form(desk)
    Customer.objects.get().account_managers.add(stranger)
    assert NO_CUSTOMER not in draft_form(desk)


def test_the_first_number_is_told_before_it_is_given_and_no_other(
    sign_in, writing_owner, writer, customer
):
    draft = make_draft(customer=customer, user=writing_owner)
    path = f"/documents/{draft.pk}/issue"
    link = 'href="/admin/invoices/numberseries/"'
    shown = main_of(sign_in(writing_owner).get(path))
    assert (FIRST in shown, link in shown) == (True, True)
    shown = main_of(sign_in(writer).get(path))
    assert (FIRST in shown, link in shown) == (True, False)
    make_issued(customer=customer, issue_date=date(2026, 1, 5), due_date=date(2026, 1, 5))
    assert "the first of its series" not in main_of(sign_in(writer).get(path))


def test_who_may_not_mend_what_the_company_lacks_is_told_whom_to_ask(
    sign_in, writing_owner, writer, customer, tax_rate
):
    draft = make_draft(customer=customer, user=writing_owner)
    path = f"/documents/{draft.pk}/issue"
    Company.objects.update(iban="")
    assert ASK in main_of(sign_in(writer).get(path))
    assert "Ask the owner" not in main_of(sign_in(writing_owner).get(path))
    TaxRate.objects.update(category="S")
    Company.objects.update(iban="DE02120300000000202051", untaxed_category="O")
    assert "Ask the owner" not in main_of(sign_in(writer).get(path))


def test_saving_the_company_says_who_is_the_owner_and_leads_to_what_comes_next(sign_in, db):
    person = UserFactory.create(is_staff=True, is_superuser=True)
    desk = sign_in(person)
    path = "/admin/invoices/company/add/"
    answer = desk.post(path, {"name": "Halden & Sons", "country": "DE", "watched_amounts": ""})
    assert (answer.status_code, answer["Location"]) == (302, "/setup")
    assert Company.objects.get().owner == person
    shown = main_of(desk.get("/setup"))
    told = "You added Halden &amp; Sons, and are its owner now: only you decide about agents."
    assert told in shown
    assert 'aria-current="step"' in shown


def test_without_a_company_a_page_says_whom_to_ask(sign_in, db):
    UserFactory.create(name="Sue Super", is_superuser=True)
    UserFactory.create(name="Ann Gone", is_superuser=True, is_active=False)
    desk = sign_in(UserFactory.create(permissions=tuple(Permission)))
    draft = make_draft(user=User.objects.get(name__startswith="Person"))
    shown = main_of(desk.get(f"/documents/{draft.pk}"))
    assert "There is no company yet" in shown
    assert "Ask Sue Super." in shown
