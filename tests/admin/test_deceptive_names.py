"""No name hides a character on the pages where people decide whom and what they let in."""

import re
from html import unescape

import pytest
from django.urls import reverse

from agent_access.models import AuditEvent, Connection
from invoicing.access import Permission
from invoicing.models import Company, DatevSettings, NumberSeries, Role, Skill, User
from tests.admin.books import BOOKS, PERSON_PAGES
from tests.factories import (
    CustomerFactory,
    TaxRateFactory,
    TeamFactory,
    UserFactory,
    grant,
    make_draft,
)
from tests.web.disguises import EVIL, HIDDEN, without_typed_values

NAMED = [each for each in BOOKS if each not in {NumberSeries, DatevSettings}]


@pytest.fixture
def evil(owner, connect, browser_connection):
    """Everything that has a name has one that deceives."""
    person = UserFactory.create(name=EVIL, job_title=EVIL, manager=owner, email="evil@x.example")
    grant(owner, Permission.VIEW_DOCUMENT, Permission.VIEW_ALL_CUSTOMERS)
    customer = CustomerFactory.create(name=EVIL, city=EVIL, account_managers=[person])
    make_draft(user=person, customer=customer, reference=EVIL)
    Skill.objects.create(name=EVIL)
    Role.objects.create(name=EVIL)
    TaxRateFactory.create(name=EVIL)
    TeamFactory.create(name=EVIL, description=EVIL, members=[person])
    Company.objects.update(name=EVIL)
    _, agent = connect(person)
    agent.call("tools.list")
    Connection.objects.update(name=EVIL, user=person)
    return person


def book_pages(evil):
    for model in NAMED:
        name = f"admin:invoices_{model._meta.model_name}"
        yield reverse(f"{name}_changelist")
        record = evil if model is User else model.objects.get()
        yield reverse(f"{name}_change", args=[record.pk])
    yield from (reverse(f"admin:{page}", args=[evil.pk]) for page in PERSON_PAGES)
    yield reverse("admin:transfer-ownership")


def desk_pages(evil):
    section = "/admin/agent_access"
    event = AuditEvent.objects.get(action="tools.list")
    yield f"{section}/connection/{event.connection_id}/"
    yield f"{section}/connection/revoke/?id={event.connection_id}"
    yield f"{section}/auditevent/?connection={event.connection_id}"
    yield f"{section}/auditevent/{event.pk}/"
    yield f"{section}/auditevent/?actor={evil.pk}"
    yield f"{section}/connection/"
    yield f"{section}/connection/add/"
    yield f"{section}/accesssettings/access/"
    yield "/admin/agent_oauth/application/"


def test_every_page_of_the_administration_names_what_hides(owner_desk, evil, client_program):
    consent = client_program.authorize_path()
    deceived, showing = [], 0
    for path in [*book_pages(evil), *desk_pages(evil), consent]:
        page = owner_desk.get(path, follow=True).content.decode()
        shown = without_typed_values(page)
        deceived += [path] if HIDDEN in unescape(shown) else []
        showing += "U+202E" in shown
        # A marker stands in a text, never within a tag.
        assert not re.search(r"<[^>]*<span class=\"invisible\"", shown), path
    assert deceived == []
    assert showing >= 25


def test_what_is_said_after_a_change_names_what_hides(owner_desk, evil):
    url = reverse("admin:sign-person-out", args=[evil.pk])
    page = owner_desk.post(url, follow=True).content.decode()
    assert 'title="An invisible character">U+202E</span>' in page
    assert HIDDEN not in unescape(without_typed_values(page))


@pytest.mark.parametrize("path", ["/admin/agent_access/connection/add/", "consent"])
def test_the_person_whom_a_connection_acts_for_is_named_without_deceit(
    owner_desk, evil, client_program, path
):
    page = owner_desk.get(client_program.authorize_path() if path == "consent" else path)
    names = re.findall(r"<option value=\"[^\"]+\">([^<]*)</option>", page.content.decode())
    label = "0001 &lt;b&gt; [U+202E]eman[U+200B] (evil@x.example)"
    assert [name for name in names if "evil@" in name] == [label]
