"""No page spills on a phone in a language whose words are 40 % longer than the English ones."""

from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from tests.approvals import prepare
from tests.browser.inspection import SPILT, WIDTHS, fits
from tests.factories import make_draft, make_issued
from tests.stretched import LANGUAGE, offer, speak, stretch
from tests.web.pages import all_pages, path_of

# A page looks the same on both databases.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite, pytest.mark.prove]

# As many pages as a person sees at least, so that the test looks at something.
LEAST_PAGES = 15
PHONE = {"width": WIDTHS["phone"], "height": 900}
ADMIN = (
    *("/admin/", "/admin/agent_access/", "/admin/agent_access/connection/add/"),
    *("/admin/invoices/", "/admin/invoices/company/", "/admin/invoices/customer/add/"),
    *("/admin/invoices/user/add/", "/admin/invoices/taxrate/add/", "/admin/invoices/user/"),
)


@pytest.fixture(autouse=True)
def _stretched(tmp_path: Path, settings: Any) -> None:
    offer(settings, tmp_path)


def look(page: Page, path: str) -> None:
    assert page.locator("html").get_attribute("lang") == LANGUAGE, path
    assert fits(page), path
    assert page.evaluate(SPILT) == [], path


def test_a_text_grows_by_its_words_and_keeps_what_is_filled_in():
    assert stretch("Sign out") == "SignSi outou"
    assert stretch("%(count)d <b>{name}</b> out") == "%(count)d <b>{name}</b> outou"


def find_pages(browser: Any, records: list[object]) -> Iterator[str]:
    """Yield the address of each page that shows something to this person, about any of these."""
    for route in all_pages():
        paths = {path_of(route, pk) for pk in records}
        answers = {path: browser.get(path) for path in sorted(paths)}
        yield from (path for path, answer in answers.items() if is_page(answer))


def is_page(answer: Any) -> bool:
    """Return whether this is a page, and neither a file nor a part of a page."""
    is_shown = answer.status_code == HTTPStatus.OK and not answer.has_header("Content-Disposition")
    is_html = is_shown and answer.headers["Content-Type"].startswith("text/html")
    return is_html and b"<html" in answer.content


def test_no_page_spills_on_a_phone_in_a_language_of_long_words(
    open_page, sign_in, delegate, customer, subtests
):
    asked = prepare(make_draft(customer=customer), user=delegate, now=timezone.now()).approval
    draft, issued = make_draft(customer=customer), make_issued(customer=customer)
    records = [draft.pk, issued.pk, customer.pk, delegate.pk, asked.pk]
    paths = list(find_pages(sign_in(speak(delegate)), records))
    assert len(paths) > LEAST_PAGES
    page = open_page("/account", delegate, viewport=PHONE)
    for path in paths:
        with subtests.test(path=path):
            page.goto(path)
            look(page, path)


@pytest.mark.parametrize("path", ["/sign-in", "/set-password", "/passkeys/link", "/nowhere"])
def test_no_page_for_strangers_spills_on_a_phone(open_page, path):
    look(open_page(path, viewport=PHONE, locale=LANGUAGE), path)


def test_no_page_of_the_administration_spills_on_a_phone(open_page, owner, subtests):
    page = open_page("/admin/", speak(owner), viewport=PHONE)
    for path in ADMIN:
        with subtests.test(path=path):
            page.goto(path)
            look(page, path)
