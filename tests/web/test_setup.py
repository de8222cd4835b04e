"""The checklist of setting up: computed each time, put away, and only the owner's."""

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from agent_access.models import AuditEvent
from agent_access.switches import turn_access
from invoicing.access import Permission
from invoicing.administration.setup import put_setup_away
from invoicing.errors import PermissionMissingError
from invoicing.models import Company, TaxRate, User
from tests.administration import acting, acts_written
from tests.factories import CustomerFactory, TaxRateFactory, UserFactory, grant
from tests.interface.refusals import nothing_changes
from tests.web.forms import main_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]


def text_of(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def steps(answer: Any) -> dict[str, tuple[bool, str]]:
    """Return whether each step is done, and its text after the title."""
    page = answer.content.decode().split('<ol class="card list steps">')[1].split("</ol>")[0]
    found = {}
    for part in re.split(r'<li aria-current="step">|<li >', page)[1:]:
        title, rest = part.split("</h2>", 1)
        is_done = "(done)" in title
        name = text_of(title.split("<h2>")[1]).removesuffix(" (done)")
        told = text_of(rest.split("</p>")[0])
        found[name] = (is_done, told)
    return found


@pytest.fixture
def first(db: None) -> User:
    """The first person of an empty installation."""
    return UserFactory.create(name="Fay First", is_staff=True, is_superuser=True)


@pytest.fixture
def ready(owner: User, tax_rate: TaxRate) -> User:
    """The owner of an installation with all but an agent's call."""
    grant(owner, *Permission)
    reasons = {"untaxed_category": "O", "untaxed_reasons": {"en": "Not subject to VAT"}}
    Company.objects.update(**reasons)
    TaxRate.objects.update(category="S")
    CustomerFactory.create()
    turn_access(on=True)
    return owner


def test_an_empty_installation_begins_with_the_company(sign_in, first):
    answer = sign_in(first).get("/setup")
    assert answer.status_code == 200
    assert steps(answer) == {
        "Company": (
            False,
            "Invoices show who they come from. Whoever adds the company is its owner.",
        ),
        "Tax rates": (
            False,
            "Proposed by the country of the company, so the company comes first.",
        ),
        "Numbers": (True, "The next invoice is INV-2026-0001. Each year starts anew."),
        "People and roles": (
            True,
            "Only you may approve invoices. Add people if others should, too.",
        ),
        "First customer": (False, "There is no customer yet."),
        "Agent access": (False, "Only the owner of the company turns it on."),
        "Connect an agent": (
            False,
            "Claude Code · Claude · ChatGPT · Cursor · VS Code · Codex · Gemini CLI · Plain HTTP",
        ),
    }
    assert "2 of 7 done" in text_of(main_of(answer))


def test_home_leads_to_the_next_step_until_all_is_done(sign_in, ready, agent):
    desk = sign_in(ready)
    assert "Next: Connect an agent" in text_of(main_of(desk.get("/")))
    agent.call("customers.search")
    assert "Set up invoicing" not in main_of(desk.get("/"))
    assert "Everything is ready." in text_of(main_of(desk.get("/setup")))


def test_nothing_is_stored_as_done_so_what_is_lost_is_asked_for_again(sign_in, ready):
    desk = sign_in(ready)
    assert steps(desk.get("/setup"))["Company"] == (True, "Halden Works, Hamburg")
    Company.objects.update(iban="", city="")
    shown = text_of(main_of(desk.get("/setup")))
    assert steps(desk.get("/setup"))["Company"] == (False, "Halden Works")
    assert "The city of your company is missing." in shown
    assert "The bank details of your company are missing." in shown
    assert "Tax number: done" in shown


def test_a_rate_of_unknown_meaning_is_no_rate_that_is_done(sign_in, ready):
    TaxRateFactory.create(name="Mystery")
    answer = sign_in(ready).get("/setup")
    is_done, _ = steps(answer)["Tax rates"]
    assert not is_done
    assert "A tax rate has no category yet" in text_of(main_of(answer))


def test_nobody_may_approve_unless_they_see_documents_and_issue_them(sign_in, owner):
    nobody = "Nobody may approve invoices yet: give somebody “Issue documents”."
    desk = sign_in(owner)
    UserFactory.create(permissions=[Permission.FINALIZE])
    UserFactory.create(is_active=False, is_superuser=True)
    assert steps(desk.get("/setup"))["People and roles"] == (False, nobody)
    for name in ("Ada", "Ben", "Cem", "Dot"):
        UserFactory.create(name=name, permissions=[Permission.FINALIZE, Permission.VIEW_DOCUMENT])
    told = "Ada, Ben, Cem and others may approve invoices."
    assert steps(desk.get("/setup"))["People and roles"] == (True, told)


def test_who_stopped_all_agents_is_not_asked_to_set_up_again(sign_in, ready, agent):
    agent.call("customers.search")
    turn_access(on=False)
    assert "Set up invoicing" not in main_of(sign_in(ready).get("/"))


def test_it_is_put_away_for_oneself_and_shown_again(sign_in, owner):
    desk = sign_in(owner)
    for _ in range(2):  # a double click
        assert desk.post("/setup", {"on_home": "no"})["Location"] == "/"
    assert "Set up invoicing" not in main_of(desk.get("/"))
    assert "it is only here, not on Home" in main_of(desk.get("/setup"))
    desk.post("/setup", {"on_home": "yes"})
    assert "Set up invoicing" in main_of(desk.get("/"))
    assert acts_written() == [
        ("person:setup_put_away", str(owner.pk), ""),
        ("person:setup_shown", str(owner.pk), ""),
    ]


@pytest.mark.parametrize("fields", [{}, {"is_staff": True, "is_superuser": True}])
def test_nobody_else_sees_it_or_puts_it_away(sign_in, owner, fields):
    person = UserFactory.create(permissions=tuple(Permission), **fields)
    desk = sign_in(person)
    for path in ("/setup", "/setup/connect"):
        shown = text_of(main_of(desk.get(path)))
        assert shown == "Only the owner sets this up Ask the owner, Olivia Owner. Go to Home"
    assert "Set up invoicing" not in main_of(desk.get("/"))
    with nothing_changes():
        assert desk.post("/setup", {"on_home": "no"}).status_code == 403
        with pytest.raises(PermissionMissingError):
            put_setup_away(acting(person), away=True)
    assert AuditEvent.objects.filter(action="person:setup_put_away").count() == 0


def test_without_a_company_the_superusers_are_whom_to_ask(sign_in, first):
    shown = text_of(main_of(sign_in(UserFactory.create()).get("/setup")))
    assert "Ask Fay First" in shown


def test_more_records_cost_no_more_queries(sign_in, ready):
    def count() -> int:
        with CaptureQueriesContext(database) as asked:
            desk.get("/setup")
        return len(asked)

    desk = sign_in(ready)
    before = count()
    for _ in range(5):
        TaxRateFactory.create(category="S")
        CustomerFactory.create()
        UserFactory.create(permissions=[Permission.FINALIZE, Permission.VIEW_DOCUMENT])
    assert count() == before
