"""The title is what a screen reader says first, and what a tab shows: it tells of a mistake."""

import re
from typing import Any

import pytest

from tests.browsers import sign_in_with
from tests.web.forms import text_of

# What a page says is the same on both databases.
pytestmark = pytest.mark.sqlite

EVENTS = "agent_access/auditevent"
FORMS = {
    "/account": "Your account · Invoicing",
    "/set-password": "Choose a password · Invoicing",
    "/admin/invoices/customer/add/": "Add customer · Administration · Invoicing",
    "/admin/invoices/company/transfer": "Transfer the ownership · Administration · Invoicing",
    "/admin/invoices/company/evidence": "Evidence · Administration · Invoicing",
    "/admin/agent_access/connection/add/": "New connection · Administration · Invoicing",
}


def title_of(answer: Any) -> str:
    found = re.search(r"<title>(.*)</title>", text_of(answer))
    assert found
    return found[1].strip()


@pytest.mark.parametrize(("path", "title"), FORMS.items())
def test_a_form_with_mistakes_says_so_in_its_title(sign_in, owner, access_on, path, title):
    browser = sign_in(owner)
    assert title_of(browser.get(path)) == title
    unconfirmed = {"own_password": None} if path.startswith("/admin/") else {}
    assert title_of(browser.post(path, unconfirmed)) == f"Please correct: {title}"


@pytest.mark.parametrize(
    ("room", "title"),
    [
        ("invoices", "Invoicing"),
        ("invoices/user", "People"),
        ("invoices/taxrate", "Tax rates"),
        (EVENTS, "Audit events"),
    ],
)
def test_a_list_of_the_administration_is_called_as_it_is_headed(sign_in, owner, room, title):
    page = sign_in(owner).get(f"/admin/{room}/")
    assert title_of(page) == f"{title} · Administration · Invoicing"
    assert f"<h1>{title}</h1>" in text_of(page)


def test_a_record_of_the_administration_is_called_by_its_name(sign_in, owner, customer):
    page = sign_in(owner).get(f"/admin/invoices/customer/{customer.pk}/change/")
    assert title_of(page) == "Acme Ltd · Administration · Invoicing"


def test_a_draft_with_mistakes_says_so_in_its_title(writer_desk):
    assert title_of(writer_desk.get("/documents/new")) == "New draft · Invoicing"
    refused = writer_desk.post("/documents/new", {"save": ""})
    assert title_of(refused) == "Please correct: New draft · Invoicing"


def test_a_refused_sign_in_says_so_in_its_title(browser, person):
    assert title_of(browser.get("/sign-in")) == "Sign in · Invoicing"
    refused = sign_in_with(browser, person.email, "wrong")
    assert title_of(refused) == "Please correct: Sign in · Invoicing"
