"""Each page of the administration says in a line what it is for."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from invoicing.models import Company, User
from tests.factories import CustomerFactory
from tests.web.forms import text_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

# These show no page of the administration, or forms alone send something there.
NO_PAGES = {
    *("login", "logout", "jsi18n", "evidence-verifier", "passkey-rule-options"),
    *("agent_access_accesssettings_stop", "agent_passkeys_signingrules_sign"),
}


def routes() -> list[str]:
    def walk(patterns: Any) -> Iterator[str]:
        for each in patterns:
            if isinstance(each, URLResolver):
                yield from walk(each.url_patterns)
            elif isinstance(each, URLPattern) and each.name:
                yield each.name

    rooms = [each for each in get_resolver().url_patterns if isinstance(each, URLResolver)]
    [site] = [each for each in rooms if str(each.pattern) == "admin/"]
    return sorted({*walk(site.url_patterns)} - NO_PAGES)


def purpose_of(answer: Any) -> list[str]:
    return re.findall(r'<p class="purpose quiet">([^<]*)</p>', text_of(answer))


def test_every_page_says_what_it_is_for() -> None:
    site: Any = admin.site
    told = {route: str(site.find_purpose(route)) for route in routes()}
    assert len(told) > 40
    assert [route for route, text in told.items() if not text] == []
    # A line, and one of its own.
    assert [route for route, text in told.items() if not 20 < len(text) < 100] == []
    assert [route for route, text in told.items() if not text.endswith(".")] == []


def test_no_purpose_is_of_a_page_that_is_no_more() -> None:
    site: Any = admin.site
    told = {name for each in site._registry.values() for name in getattr(each, "purposes", {})}
    assert told - {*routes()} == set()


@pytest.mark.parametrize(
    "path",
    [
        "index",
        "agent_access_accesssettings_changelist",
        "agent_access_connection_changelist",
        "agent_access_connection_add",
        "agent_access_auditevent_changelist",
        "agent_access_receipt_changelist",
        "agent_oauth_application_changelist",
        "agent_passkeys_signingrules_changelist",
        "invoices_customer_changelist",
        "invoices_customer_add",
        "invoices_taxrate_changelist",
        "invoices_user_add",
        "tax-meanings",
        "transfer-ownership",
        "export-evidence",
        "passkey-rule",
    ],
)
def test_a_page_shows_it_once_under_its_heading(sign_in, owner, access_on, path) -> None:
    site: Any = admin.site
    page = sign_in(owner).get(reverse(f"admin:{path}"))
    assert page.status_code == 200
    assert purpose_of(page) == [str(site.find_purpose(path)).replace("'", "&#x27;")]
    text = text_of(page)
    assert text.index("</h1>") < text.index('<p class="purpose')


def test_the_pages_of_a_record_show_it(sign_in, owner, delegate) -> None:
    site: Any = admin.site
    browser = sign_in(owner)
    customer, company = CustomerFactory.create(), Company.objects.get()
    pages = {
        "invoices_customer_change": customer.pk,
        "invoices_company_change": company.pk,
        "invoices_user_change": delegate.pk,
        "one-time-link": delegate.pk,
        "sign-person-out": delegate.pk,
    }
    for name, pk in pages.items():
        page = browser.get(reverse(f"admin:{name}", args=[pk]))
        assert purpose_of(page) == [str(site.find_purpose(name))], name


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC"])
def test_moments_are_those_of_the_person_s_zone_with_its_name(
    sign_in, owner, connection, time_machine, zone
) -> None:
    time_machine.move_to("2026-03-02T23:30:00+00:00", tick=False)
    User.objects.filter(pk=owner.pk).update(time_zone=zone)
    owner.refresh_from_db()
    type(connection).objects.update(
        created_at="2026-03-01T23:30:00+00:00", expires_at="2026-03-20T23:30:00+00:00"
    )
    browser = sign_in(owner)
    told = {
        "Asia/Tokyo": "2026-03-21 08:30 JST",
        "America/New_York": "2026-03-20 19:30 EDT",
        "UTC": "2026-03-20 23:30 UTC",
    }[zone]
    page = text_of(browser.get(reverse("admin:agent_access_connection_changelist")))
    assert told in page
    detail = browser.get(reverse("admin:agent_access_connection_change", args=[connection.pk]))
    day, clock, name = told.split()
    assert f"{day} {clock}:00 {name}, 18 days left" in text_of(detail)
