"""The home page: what waits, one's drafts, what was issued, what agents did."""

import re
from datetime import date, timedelta
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection as database
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agent_access import activity
from agent_access.approvals.models import Decision
from agent_access.switches import turn_access
from agent_access.verification import keep_result
from invoicing.access import Permission
from invoicing.models import Customer, Document, User
from invoicing.services import issued_totals
from invoicing.services.drafts import ConnectionRef
from tests.agents import HOST
from tests.approvals import prepare
from tests.factories import (
    CustomerFactory,
    UserFactory,
    grant,
    line_input,
    make_connection_ref,
    make_draft,
    make_issued,
    withdraw,
)
from tests.web.reviews import decision_of

pytestmark = pytest.mark.usefixtures("clock")

NOTHING_WAITS = (
    "Nothing is waiting for you. When an agent asks to issue an invoice in your name, the request"
    " is shown here for ten minutes."
)
SEES_NONE = (
    "No agent acts for you yet. The owner connects one, or you add this service to your agent and"
    " ask for access. What it writes is told here."
)


def text_of(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def section(answer: Any, name: str) -> str:
    """Return the text of the section of this name, without its heading; empty if there is none."""
    found = re.search(
        rf'<section aria-labelledby="{name}">.*?</h2>(.*?)</section>',
        answer.content.decode(),
        re.DOTALL,
    )
    return text_of(found[1]) if found else ""


def figures(answer: Any) -> list[str]:
    """Return the figures at the head of the page."""
    page = answer.content.decode()
    return [
        text_of(each)
        for each in re.findall(r'<div class="card">(.*?)</div>', page.split("</dl>")[0], re.DOTALL)
    ]


def test_nobody_s_day_is_empty(sign_in):
    answer = sign_in(UserFactory.create(name="Nora New")).get("/")
    assert answer.status_code == 200
    assert section(answer, "waiting") == NOTHING_WAITS
    assert section(answer, "done") == SEES_NONE
    assert [section(answer, name) for name in ("drafts", "issued", "connections", "health")] == [
        *[""] * 4
    ]
    assert figures(answer) == [
        "Waiting for you 0 Nothing to decide",
        "Agents acting for you 0 0 calls refused today",
    ]


def test_whoever_may_write_is_led_to_their_first_draft(desk):
    answer = desk.get("/")
    assert section(answer, "drafts") == (
        "You have no drafts. Write one , or let an agent write it for you."
    )
    assert section(answer, "issued") == (
        "Nothing was issued in the last twelve months, as far as you see documents."
        " Write a draft, check it, and issue it: it is counted here."
    )
    assert figures(answer)[1:3] == [
        "Issued this month 0 Nothing in twelve months",
        "Your drafts 0 0 by agents",
    ]


@pytest.mark.parametrize(
    ("zone", "greeting", "day"),
    [
        ("UTC", "Good morning", "March 2, 2026"),
        ("Asia/Tokyo", "Good evening", "March 2, 2026"),
        ("Asia/Kolkata", "Good afternoon", "March 2, 2026"),
        ("Pacific/Honolulu", "Good evening", "March 1, 2026"),
    ],
)
def test_the_day_is_that_of_the_person_s_time_zone(sign_in, zone, greeting, day):
    page = sign_in(UserFactory.create(name="Nora", time_zone=zone)).get("/").content.decode()
    assert f"<h1>{greeting}, <bdi>Nora</bdi></h1>" in page
    assert f'<p class="today quiet">{day}</p>' in page


def test_home_is_the_first_link_and_is_current_nowhere_else(desk):
    for path, current in (("/", "Home"), ("/documents", "Invoices"), ("/people", "People")):
        navigation = desk.get(path).content.decode().split("<nav")[1].split("</nav>")[0]
        links = re.findall(r'<a href="([^"]*)"([^>]*)>(\w+)', navigation)
        assert links[0][::2] == ("/", "Home")
        assert [name for _, state, name in links if "aria-current" in state] == [current]


def test_what_waits_is_shown_as_in_the_inbox(desk, prepared):
    answer = desk.get("/")
    assert section(answer, "waiting") == (
        f"Acme Ltd €119.00 Issue {prepared.document.draft_code} Waiting for you by Ledger agent ,"
        " 9 min 0 s left Act on all requests from Ledger agent Reject everything from it"
    )
    assert figures(answer)[0] == "Waiting for you 1 The next has 9 min 0 s left"


def test_all_requests_of_an_agent_are_rejected_from_the_home_page(strict, person, prepared):
    page = strict.get("/").content.decode()
    [(action, token)] = re.findall(
        r'action="(/approvals/connections/[^"]*)">\s*<input type="hidden"'
        r' name="csrfmiddlewaretoken" value="(\w+)">',
        page,
    )
    headers = {"referer": f"https://{HOST}/"}
    assert strict.post(action, {"csrfmiddlewaretoken": token}, headers=headers).status_code == 302
    assert decision_of(prepared) == Decision.REJECTED


@pytest.mark.usefixtures("prepared")
def test_what_has_become_stale_has_no_time_left(desk):
    Customer.objects.update(name="Acme Limited")
    assert figures(desk.get("/"))[0] == "Waiting for you 1 Changed since it was asked"


def test_of_much_that_waits_the_first_are_shown_and_all_are_counted(desk, delegate, customer):
    for _ in range(6):
        draft = make_draft(user=delegate, customer=customer)
        prepare(draft, user=delegate, connection=make_connection_ref())
    text = section(desk.get("/"), "waiting")
    assert text.count("Waiting for you by Ledger agent") == 4
    assert text.endswith("All that waits for you (6)")


def test_what_a_person_wrote_themselves_or_by_an_agent_are_their_drafts(
    desk, delegate, colleague, customer
):
    own = make_draft(user=delegate, customer=customer)
    agents = make_draft(user=delegate, customer=customer, connection=make_connection_ref())
    make_draft(user=colleague, customer=customer)
    make_issued(user=delegate, customer=customer)
    answer = desk.get("/")
    assert section(answer, "drafts") == (
        f"{agents.draft_code} By agent: Ledger agent Acme Ltd €100.00"
        f" {own.draft_code} Acme Ltd €100.00"
    )
    assert figures(answer)[2] == "Your drafts 2 1 by agents"


def test_the_newest_drafts_are_shown_and_all_are_counted(desk, delegate, customer, monkeypatch):
    for _ in range(6):
        make_draft(user=delegate, customer=customer)
    answer = desk.get("/")
    assert section(answer, "drafts").count("Acme Ltd") == 5
    assert section(answer, "drafts").endswith("All drafts")
    monkeypatch.setattr("invoicing.web.home.page.MOST_COUNTED", 4)
    assert figures(desk.get("/"))[2] == "Your drafts 4+ 0 by agents"


def test_what_was_issued_is_added_up_by_currency_and_month(desk, delegate):
    make_issued(connection=make_connection_ref())
    make_issued()
    make_issued(issue_date=date(2026, 2, 28))
    make_issued(issue_date=date(2025, 3, 31))
    make_issued(currency_code="JPY", lines=(line_input(unit_price=700),))
    answer = desk.get("/")
    assert figures(answer)[1] == "Issued this month €200.00 2 invoices, 1 by agents"
    text = section(answer, "issued")
    assert text.startswith(
        "EUR €200.00 March 2026: 2 invoices April 2025 March 2026"
        " Figures by month in EUR Issued by month in EUR, credit notes subtracted"
        " Month Documents Total March 2026 2 €200.00 February 2026 1 €100.00 January 2026 0 €0.00"
    )
    assert "JPY ¥1,400 March 2026: 1 invoice" in text
    assert "March 2025" not in text


def test_of_too_many_documents_no_total_is_told(sign_in, stranger, monkeypatch):
    monkeypatch.setattr(issued_totals, "MOST_ADDED_UP", 0)
    make_issued(customer=CustomerFactory.create(account_managers=[stranger]))
    answer = sign_in(stranger).get("/")
    assert figures(answer)[1] == "Issued this month Many Too many to add up here"
    assert section(answer, "issued") == (
        "You see too many documents to add them up while this page waits. Read them in the list ."
    )


@pytest.fixture
def worked(agent, draft_body, delegate, clock) -> list[Document]:
    """Two drafts of an agent: it changed one and asked for its issue, which the person approved."""
    drafts = []
    for number in range(2):
        made = agent.call("drafts.create", draft_body, key=f"create-{number}")
        drafts.append(Document.objects.get(pk=made.data["id"]))
        clock.shift(timedelta(minutes=1))
    one = drafts[0]
    for version in (1, 2):
        agent.call(
            "drafts.update", {"lock_version": version, **draft_body}, id=one.id, key=f"u{version}"
        )
    clock.shift(timedelta(minutes=1))
    asked = agent.call(
        "documents.issue_prepare", {"lock_version": 3}, id=one.id, key="prepare"
    ).data
    clock.shift(timedelta(minutes=1))
    agent.call("documents.issue", {"nonce": asked["nonce"]}, id=asked["approval_id"], key="early")
    return drafts


def approve(browser: Any) -> None:
    """Decide what waits on the review page, as its form does."""
    path = re.findall(r'href="(/approvals/[0-9a-f-]{36})"', browser.get("/").content.decode())[0]
    page = browser.get(path).content.decode()
    [fingerprint] = re.findall(r'name="fingerprint" value="(\w+)"', page)
    form = {"decision": "approve", "fingerprint": fingerprint, "reason": ""}
    assert browser.post(path, form).status_code == 302


def test_the_day_of_an_agent_is_told_in_sentences(desk, worked):
    one, two = (each.draft_code for each in worked)
    approve(desk)
    answer = desk.get("/")
    assert section(answer, "done") == (
        f"09:05 You approved {one}"
        f" 09:04 Test agent asked you to approve {one}"
        f" 09:03 Test agent changed draft {one} 2 times"
        f" 09:02 Test agent wrote 2 drafts: {two} , {one}"
        " Refused today Test agent called documents.issue . Nobody had decided yet."
        " It is decided under Approvals, as long as it waits."
    )
    page = answer.content.decode()
    assert page.count(f'href="/documents/{worked[1].id}"') == 2  # of the sentence, and of the draft


def test_moments_are_those_of_the_person_s_time_zone(sign_in, worked, delegate):
    User.objects.filter(pk=delegate.pk).update(time_zone="Asia/Kolkata")
    delegate.refresh_from_db()
    assert section(sign_in(delegate).get("/"), "done").startswith("14:34 Test agent asked you")


def test_nobody_is_told_what_agents_did_for_somebody_else(sign_in, worked, colleague, owner):
    for person in (colleague, owner):
        answer = sign_in(person).get("/")
        assert not any(each.draft_code in section(answer, "done") for each in worked)
        assert "Refused today" not in section(answer, "done")
        assert section(answer, "drafts") in {
            "",
            "You have no drafts. Write one , or let an agent write it for you.",
        }


def test_nobody_is_told_of_documents_that_they_do_not_see_any_more(sign_in, worked, delegate):
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    answer = sign_in(delegate).get("/")
    page = answer.content.decode()
    assert [each.draft_code for each in worked if each.draft_code in page] == []
    assert "Acme Ltd" not in page
    assert section(answer, "drafts").startswith("You have no drafts.")
    assert figures(answer)[2] == "Your drafts 0 0 by agents"


def test_two_people_side_by_side_see_the_numbers_of_their_own_customers(sign_in, stranger):
    other = UserFactory.create(
        permissions=[each for each in Permission if each != Permission.VIEW_ALL_CUSTOMERS]
    )
    people = {stranger: 3, other: 7}
    for person, price in people.items():
        customer = CustomerFactory.create(name=f"Of {person.name}", account_managers=[person])
        lines = (line_input(unit_price=price * 100),)
        make_issued(customer=customer, lines=lines)
        make_draft(user=person, customer=customer)
    for person, price in people.items():
        answer = sign_in(person).get("/")
        assert figures(answer)[1] == f"Issued this month €{2 * price}.00 1 invoice, 0 by agents"
        assert figures(answer)[2] == "Your drafts 1 0 by agents"
        [hidden] = people.keys() - {person}
        assert f"Of {hidden.name}" not in answer.content.decode()


def test_without_the_right_to_see_documents_none_is_counted_or_named(sign_in, worked, delegate):
    make_issued()
    withdraw(delegate, Permission.VIEW_DOCUMENT)
    answer = sign_in(delegate).get("/")
    assert section(answer, "drafts") == section(answer, "issued") == ""
    assert len(figures(answer)) == 2
    assert not any(each.draft_code in answer.content.decode() for each in worked)


def test_yesterday_is_not_told(sign_in, delegate, worked, clock):
    clock.shift(timedelta(days=1))
    answer = sign_in(delegate).get("/")
    assert section(answer, "done") == (
        "Your agents have written nothing today."
        " What they write, and what you decide, is told here."
    )


def test_refusals_are_grouped_with_their_reason(desk, agent):
    for _ in range(3):
        agent.call("documents.get", id="0190a3f6-0000-7000-8000-000000000000")
    answer = desk.get("/")
    assert section(answer, "done").endswith(
        "Refused today Test agent called documents.get 3 times. What it named is not there, or out"
        " of reach. Tell the agent which record you mean."
    )
    assert figures(answer)[-1] == "Agents acting for you 1 3 calls refused today"


def test_the_owner_sees_the_connections_in_use_and_whose_expires_first(
    sign_in, owner, delegate, colleague, connect, agent
):
    agent.call("tools.list")
    agent.call("documents.get", id="0190a3f6-0000-7000-8000-000000000000")
    connect(colleague, days=2, name="Short one")
    text = section(sign_in(owner).get("/"), "connections")
    assert text == (
        "Connections that agents can use, those used last first"
        " Connection Acts for Last use Expires Refused today"
        " Test agent Dana Delegate March 2, 2026, 09:01 UTC April 1, 2026 1"
        " Short one Colin Colleague Never March 4, 2026 0"
        " Soon The first to expire is Short one , on March 4, 2026, 09:01 UTC."
    )
    assert section(sign_in(delegate).get("/"), "connections") == ""


def test_an_owner_without_agents_is_told_what_comes_next(sign_in, owner):
    desk = sign_in(owner)
    assert section(desk.get("/"), "connections") == (
        "Agent access is off. Turn it on to let somebody connect an agent."
    )
    turn_access(on=True)
    assert section(desk.get("/"), "connections").startswith("No agent is connected.")


def test_the_owner_is_told_when_the_audit_was_verified(sign_in, owner, agent, clock):
    desk = sign_in(owner)
    assert section(desk.get("/"), "health").startswith("Not verified Nobody has verified")
    call_command("verify_audit")
    assert section(desk.get("/"), "health").startswith(
        "Intact All audit chains were verified on March 2, 2026, 09:01 UTC."
    )
    clock.shift(timedelta(days=8))
    desk = sign_in(owner)
    assert section(desk.get("/"), "health").startswith("Long ago All audit chains were intact on")
    keep_result(broken=2)
    assert section(desk.get("/"), "health").startswith("Broken 2 audit chains had a break when")


def test_the_owner_is_told_how_old_the_last_backup_is(sign_in, owner, clock):
    desk = sign_in(owner)
    assert section(desk.get("/"), "health").endswith(
        "A script that makes backups ends with backup_done ."
    )
    call_command("backup_done", stdout=StringIO())
    clock.shift(timedelta(hours=3))
    assert section(desk.get("/"), "health").endswith(
        "Backed up The last backup was made 3 hours ago, on March 2, 2026, 09:01 UTC."
    )
    clock.shift(timedelta(days=3))
    assert "Long ago The last backup was made 3 days ago" in section(
        sign_in(owner).get("/"), "health"
    )


def test_whoever_has_no_role_yet_is_told_whom_to_ask(sign_in, delegate):
    told = "You have no role yet"
    assert told in sign_in(UserFactory.create()).get("/").content.decode()
    assert told not in sign_in(delegate).get("/").content.decode()


def test_without_a_company_the_page_says_what_to_do(sign_in, db):
    superuser = UserFactory.create(is_staff=True, is_superuser=True)
    page = sign_in(superuser).get("/").content.decode()
    assert "Next: Company" in text_of(page)
    assert 'href="/admin/invoices/company/add/">Start</a>' in page
    page = sign_in(UserFactory.create(permissions=tuple(Permission))).get("/").content.decode()
    assert "Set up invoicing" not in page


def count_queries(browser: Any) -> int:
    with CaptureQueriesContext(database) as queries:
        assert browser.get("/").status_code == 200
    return len(queries)


@pytest.mark.usefixtures("many_calls")
@pytest.mark.parametrize("is_owner", [True, False])
def test_the_page_costs_as_many_queries_however_much_there_is(
    sign_in, owner, delegate, connect, draft_body, is_owner
):
    person = owner if is_owner else delegate
    grant(person, *Permission)
    browser = sign_in(person)

    def work(rounds: int) -> None:
        for number in range(rounds):
            held, agent = connect(person, name=f"Agent {number}")
            made = agent.call("drafts.create", draft_body, key="create").data
            agent.call("documents.get", id=held.id)
            draft = Document.objects.get(pk=made["id"])
            asked = prepare(
                draft, user=person, connection=ConnectionRef(held.pk, held.name), now=timezone.now()
            )
            if number % 2:
                asked.decide(Decision.REJECTED, now=timezone.now())
            make_issued(currency_code="EUR" if number % 2 else "USD")

    work(2)
    few = count_queries(browser)
    work(8)
    assert count_queries(browser) == few


def test_no_more_refusals_are_counted_than_a_page_can_wait_for(desk, agent, monkeypatch):
    monkeypatch.setattr(activity, "MOST_REFUSALS", 2)
    for _ in range(3):
        agent.call("documents.get", id="0190a3f6-0000-7000-8000-000000000000")
    assert figures(desk.get("/"))[-1] == "Agents acting for you 1 2 calls refused today"
