"""An administrator and a new person, in a real browser; and the pages of the books, looked at."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission as PermissionRow
from playwright.sync_api import Page, expect

from invoicing.administration.sign_ins import make_code
from invoicing.models import Company, Role, Skill, Team, User
from tests.administration import acting
from tests.browser.inspection import follow, inspect
from tests.factories import (
    PASSWORD,
    CustomerFactory,
    TaxRateFactory,
    TeamFactory,
    UserFactory,
    give_password,
    make_issued,
)

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

NEW = "another-long-password"


@pytest.fixture
def books(owner: User) -> dict[str, Any]:
    """Enough of everything that pages look as they do in use."""
    role = Role.objects.create(name="Bookkeeper")
    role.permissions.set(PermissionRow.objects.filter(codename__in=["manage", "finalize"]))
    skills = [Skill.objects.create(name=name) for name in ("Bookkeeping", "German", "Spanish")]
    people = UserFactory.create_batch(8, job_title="Clerk", skills=skills[:1])
    UserFactory.create(name="Ivan Gone", is_active=False)
    customer = CustomerFactory.create(name="Nordwind GmbH", account_managers=people[:2])
    make_issued(customer=customer)
    return {
        "person": people[0],
        "customer": customer,
        "rate": TaxRateFactory.create(),
        "team": TeamFactory.create(name="Finance", leads=people[:1], members=people[:3]),
        "role": role,
    }


def test_a_double_click_adds_one_team(open_page, superuser):
    page = open_page("/admin/invoices/team/add/", superuser)
    page.get_by_label("Name").fill("Night shift")
    page.get_by_role("button", name="Save").dblclick()
    expect(page.get_by_role("status")).to_be_visible()
    assert Team.objects.count() == 1


def test_a_new_person_comes_in_by_a_link(open_page, superuser):
    admin = open_page("/admin/invoices/user/add/", superuser)
    admin.get_by_label("Name:", exact=True).fill("Nora New")
    admin.get_by_label("Work e-mail").fill("nora@halden.example")
    admin.get_by_label("Monday").fill("9:00 to 17:00")
    admin.get_by_role("button", name="Save").click()
    admin.get_by_role("main").get_by_role("link", name="Nora New").first.click()
    follow(admin.get_by_role("link", name="One-time link"))
    inspect(admin, "one-time-link-asked")
    admin.get_by_label("Your own password").fill(PASSWORD)
    admin.get_by_role("button", name="Create the link").click()
    link = admin.get_by_label("Link", exact=True).input_value()
    inspect(admin, "one-time-link")

    nora = open_page(link)
    expect(nora).to_have_url("https://invoices.example/set-password")
    assert nora.get_by_label("One-time code").input_value() == link.partition("#")[2]
    inspect(nora, "set-password")
    nora.get_by_label("New password").fill("short")
    nora.get_by_label("Repeat the password").fill("short")
    nora.get_by_role("button", name="Set the password").click()
    expect(nora.get_by_text("This password is too short.")).to_be_visible()
    inspect(nora, "set-password-mended")
    nora.get_by_label("New password").fill(NEW)
    nora.get_by_label("Repeat the password").fill(NEW)
    follow(nora.get_by_role("button", name="Set the password"))
    inspect(nora, "password-set")
    follow(nora.get_by_role("link", name="Nora New"))
    inspect(nora, "account")


def test_without_a_script_the_code_is_pasted(open_page, owner):
    person = UserFactory.create()
    code = make_code(acting(owner), person.pk)
    page = open_page(f"/set-password#{code}", java_script_enabled=False)
    page.get_by_label("One-time code").fill(code)
    page.get_by_label("New password").fill(NEW)
    page.get_by_label("Repeat the password").fill(NEW)
    page.get_by_role("button", name="Set the password").click()
    expect(page.get_by_role("status").filter(has_text="Your password is set")).to_be_visible()


def test_going_back_to_a_person_shows_who_was_deactivated_meanwhile(open_page, superuser):
    person = UserFactory.create()
    page = open_page(f"/admin/invoices/user/{person.pk}/change/", superuser)
    expect(page.get_by_label("Is active")).to_be_checked()
    page.goto("/account")
    User.objects.filter(pk=person.pk).update(is_active=False)
    page.go_back()
    expect(page.get_by_label("Is active")).not_to_be_checked()


def test_the_owner_hands_over(open_page, owner, delegate, connect):
    connect(delegate)
    give_password(owner)
    page = open_page("/admin/invoices/company/", owner)
    follow(page.get_by_role("link", name="Transfer the ownership"))
    inspect(page, "transfer")
    page.get_by_label("New owner", exact=True).select_option(
        label=f"{delegate.name} ({delegate.email})"
    )
    page.get_by_label("Type the new owner's e-mail address").fill("slip@halden.example")
    page.get_by_label("Your own password").fill(PASSWORD)
    page.get_by_role("button", name="Transfer the ownership").click()
    expect(page.get_by_text("not the address of the person chosen")).to_be_visible()
    inspect(page, "transfer-mended")
    page.get_by_label("Type the new owner's e-mail address").fill(delegate.email)
    page.get_by_label("Your own password").fill(PASSWORD)
    page.get_by_role("button", name="Transfer the ownership").click()
    expect(page).to_have_url("https://invoices.example/")
    assert Company.objects.get().owner == delegate


@pytest.mark.prove
def test_the_books_read_well(open_page, superuser, books):
    page: Page = open_page("/admin/", superuser)
    inspect(page, "admin-administrator")
    for name in (
        "user",
        "customer",
        "team",
        "skill",
        "taxrate",
        "numberseries",
        "role",
    ):
        page.goto(f"/admin/invoices/{name}/")
        inspect(page, f"books-{name}-list")
    for name in ("person", "customer", "rate", "team", "role"):
        record = books[name]
        page.goto(f"/admin/invoices/{record._meta.model_name}/{record.pk}/change/")
        inspect(page, f"books-{name}")
    page.goto("/admin/invoices/company/")
    inspect(page, "books-company")
    TaxRateFactory.create(name="EU services", percentage_ten_thousandths=0)
    follow(page.get_by_role("link", name="What taxes mean"))
    inspect(page, "books-tax-meanings")
    page.get_by_label("Category").nth(1).select_option("reverse-charge-services")
    follow(page.get_by_role("button", name="Save"))
    inspect(page, "books-tax-meanings-proposed")
    page.goto(f"/admin/invoices/user/{books['person'].pk}/sign-out")
    inspect(page, "books-sign-out")
    page.goto(f"/admin/invoices/user/{books['person'].pk}/change/")
    page.get_by_label("Work e-mail").fill("no address")
    page.get_by_label("Monday").fill("morning")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Nothing was saved yet.")).to_be_visible()
    inspect(page, "books-person-mended")
