"""What agents did, told to the owner of all of them and to a person of their own."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from agent_access.models import Connection
from agent_access.timeline import reading
from invoicing.access import Permission
from invoicing.models import Document, User
from tests.browsers import Browser
from tests.factories import CustomerFactory, UserFactory, grant, withdraw
from tests.web.test_home import approve

pytestmark = pytest.mark.usefixtures("clock")

PAGE = "/agents/activity"
ROWS = "/agents/activity/rows"
MISSING = "0190a3f6-0000-7000-8000-000000000000"
UNDECIDED = "Nobody had decided yet. It is decided under Approvals, as long as it waits."
NOT_THERE = "What it named is not there, or out of reach. Tell the agent which record you mean."


def text_of(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def part(answer: Any, name: str) -> str:
    """Return the text of a part of the page, without its heading."""
    page = answer.content.decode()
    found = re.search(rf'<section id="{name}".*?</h2>(.*?)</section>', page, re.DOTALL)
    assert found, page
    return text_of(found[1])


def acts(answer: Any) -> list[str]:
    """Return what is told, line by line."""
    items = re.findall(r"<li>\s*<time.*?</li>", answer.content.decode(), re.DOTALL)
    return [text_of(each) for each in items]


def figures(answer: Any) -> list[str]:
    page = answer.content.decode().split('id="acts"')[0]
    cards = re.findall(r'<div class="card( calls)?">(.*?)</div>', page, re.DOTALL)
    return [text_of(re.sub(r"<details>.*", "", card, flags=re.DOTALL)) for _, card in cards]


@pytest.fixture
def worked(agent, draft_body, clock) -> list[Document]:
    """Two drafts: one was changed, and its issue asked for and tried too early."""
    drafts = []
    for number in range(2):
        made = agent.call("drafts.create", draft_body, key=f"create-{number}")
        drafts.append(Document.objects.get(pk=made.data["id"]))
        clock.shift(timedelta(minutes=1))
    one = drafts[0]
    agent.call("drafts.update", {"lock_version": 1, **draft_body}, id=one.id, key="update")
    clock.shift(timedelta(minutes=1))
    asked = agent.call("documents.issue_prepare", {"lock_version": 2}, id=one.id, key="prepare")
    clock.shift(timedelta(minutes=1))
    nonce = {"nonce": asked.data["nonce"]}
    agent.call("documents.issue", nonce, id=asked.data["approval_id"], key="early")
    clock.shift(timedelta(minutes=1))
    return drafts


def test_what_an_agent_did_is_told_in_sentences(desk, worked):
    approve(desk)
    one, two = (each.draft_code for each in worked)
    answer = desk.get(PAGE)
    assert acts(answer) == [
        f"09:06 You approved {one} €16.86 for Acme Ltd Approved",
        f"09:05 Test agent was refused documents.issue {UNDECIDED} Refused",
        f"09:04 Test agent asked for approval of {one} €16.86 for Acme Ltd Asked",
        f"09:03 Test agent changed draft {one} €16.86 for Acme Ltd Changed",
        f"09:02 Test agent wrote 2 drafts: {two} , {one} for 1 customer Written",
    ]
    assert f'href="/documents/{worked[1].id}"' in answer.content.decode()
    # A decision is no call.
    assert figures(answer) == [
        "Calls in 14 days 5",
        "Drafts written 2 for 1 customer",
        "Issued 0",
        "Calls refused 1 Why, and what to do",
    ]
    assert part(answer, "refused") == f"documents.issue 1 time {UNDECIDED}"


def test_a_rejection_is_told_with_its_reason(desk, worked):
    path = re.findall(r'href="(/approvals/[0-9a-f-]{36})"', desk.get("/").content.decode())[0]
    page = desk.get(path).content.decode()
    [fingerprint] = re.findall(r'name="fingerprint" value="(\w+)"', page)
    form = {"decision": "reject", "fingerprint": fingerprint, "reason": "Wrong price"}
    assert desk.post(path, form).status_code == 302
    assert acts(desk.get(PAGE))[0] == (
        f"09:06 You rejected {worked[0].draft_code} €16.86 for Acme Ltd “Wrong price” Rejected"
    )


def test_the_owner_reads_numbers_without_what_is_in_them(sign_in, owner, worked):
    answer = sign_in(owner).get(PAGE)
    one, two = (each.draft_code for each in worked)
    assert acts(answer)[0] == (
        "09:05 Test agent was refused documents.issue Its person had not decided yet. They decide"
        " under Approvals, as long as it waits. for Dana Delegate Refused"
    )
    assert acts(answer)[-1] == (
        f"09:02 Test agent wrote 2 drafts: {two} , {one} for Dana Delegate Written"
    )
    page = answer.content.decode()
    assert [each for each in ("Acme Ltd", "16.86", "/documents/0") if each in page] == []
    assert figures(answer)[1] == "Drafts written 2"


def test_an_owner_who_sees_documents_reads_what_is_in_them(sign_in, owner, worked):
    grant(owner, *Permission)
    answer = sign_in(owner).get(PAGE)
    assert f'href="/documents/{worked[0].id}"' in answer.content.decode()
    assert figures(answer)[1] == "Drafts written 2 for 1 customer"


def test_two_people_side_by_side_read_of_their_own_agents_alone(  # noqa: PLR0917  fixtures
    sign_in, connect, draft_body, delegate, colleague, worked, clock
):
    grant(colleague, *Permission)
    held, theirs = connect(colleague, name="Colin's agent")
    made = theirs.call("drafts.create", draft_body, key="a-key")
    clock.shift(timedelta(seconds=1))
    theirs.call("documents.get", id=MISSING)
    code = Document.objects.get(pk=made.data["id"]).draft_code
    one, other = sign_in(delegate).get(PAGE), sign_in(colleague).get(PAGE)
    assert [each for each in ("Colin", code, str(held.pk)) if each in one.content.decode()] == []
    assert figures(one)[0] == "Calls in 14 days 5"
    assert acts(other) == [
        f"09:06 Colin's agent was refused documents.get {NOT_THERE} Refused",
        f"09:06 Colin's agent wrote draft {code} €16.86 for Acme Ltd Written",
    ]
    assert figures(other) == [
        "Calls in 14 days 2",
        "Drafts written 1 for 1 customer",
        "Issued 0",
        "Calls refused 1 Why, and what to do",
    ]


@pytest.mark.parametrize("path", [PAGE, ROWS])
def test_nobody_chooses_what_is_not_theirs(sign_in, colleague, delegate, connection, path):
    browser = sign_in(colleague)
    for asked in (f"connection={connection.pk}", f"person={delegate.pk}", f"connection={MISSING}"):
        assert browser.get(f"{path}?{asked}").status_code == 404
    assert browser.get(f"{path}?person={colleague.pk}").status_code == 404


@pytest.mark.parametrize("asked", ["connection=x", "person=x", f"connection={MISSING}"])
def test_what_nobody_is_called_is_not_found(sign_in, owner, asked):
    assert sign_in(owner).get(f"{PAGE}?{asked}").status_code == 404


@pytest.mark.parametrize(
    "asked",
    [
        "before=x",
        "before=2026-03-02",
        "before=9999-99-99T00:00:00Z",
        "before=9999-12-31T23:59:59-01:00",
        "before=0001-01-01T00:00:00%2B01:00",
        "kind=%00",
        "outcome=%27",
    ],
)
def test_what_no_filter_can_mean_is_left_out(desk, worked, asked):
    assert len(acts(desk.get(f"{PAGE}?{asked}"))) == 4


def test_documents_out_of_reach_are_told_and_counted_no_more(sign_in, worked, delegate):
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    answer = sign_in(delegate).get(PAGE)
    page = answer.content.decode()
    hidden = ("Acme", *(each.draft_code for each in worked), *(str(each.pk) for each in worked))
    assert [each for each in hidden if each in page] == []
    assert figures(answer)[1] == "Drafts written 0"


def test_without_the_right_to_see_documents_none_is_told(sign_in, worked, delegate):
    withdraw(delegate, Permission.VIEW_DOCUMENT)
    answer = sign_in(delegate).get(PAGE)
    assert [each.draft_code for each in worked if each.draft_code in answer.content.decode()] == []
    assert figures(answer)[1] == "Drafts written 0"


def test_filters_narrow_what_is_told(desk, worked, connection):
    def told(query: str) -> list[str]:
        return [each.split()[-1] for each in acts(desk.get(f"{PAGE}?{query}"))]

    approve(desk)
    assert told(f"connection={connection.pk}") == told("")
    assert told("kind=drafts.create") == ["Written"]
    assert told("kind=approval:approved") == ["Approved"]
    assert told("outcome=ok") == ["Approved", "Asked", "Changed", "Written"]
    assert told("outcome=refused") == told("outcome=approval_pending") == ["Refused"]
    assert told("kind=documents.issue&outcome=approval_pending") == ["Refused"]
    assert told("outcome=conflict") == told("kind=drafts.create&outcome=refused") == []
    empty = desk.get(f"{PAGE}?outcome=conflict")
    assert part(empty, "acts") == "Nothing was found. Remove a filter to see more."


def test_the_owner_narrows_it_to_a_person(sign_in, owner, connect, delegate, colleague, draft_body):
    grant(colleague, *Permission)
    for person in (delegate, colleague):
        _, agent = connect(person, name=f"Agent of {person.name}")
        agent.call("drafts.create", draft_body, key="a-key")
    page = sign_in(owner).get(f"{PAGE}?person={colleague.pk}")
    [told] = acts(page)
    assert "Agent of Colin Colleague wrote draft" in told
    assert figures(page)[0] == "Calls in 14 days 1"


def walk(browser: Any, query: str) -> list[str]:
    """Return what all pages tell, the newest first."""
    told: list[str] = []
    href = f"?{query}"
    for _ in range(40):
        page = browser.get(f"{PAGE}{unescape(href)}")
        told += acts(page)
        found = re.search(r'href="([^"]*)">Older activity', page.content.decode())
        if not found:
            return told
        href = found[1]
    pytest.fail("There is no last page.")


@pytest.mark.parametrize("query", ["", "kind=drafts.create", "outcome=not_found"])
def test_pages_tell_everything_once(  # noqa: PLR0917  fixtures
    desk, connect, delegate, draft_body, clock, monkeypatch, query
):
    monkeypatch.setattr(reading, "PAGE_LENGTH", 2)
    monkeypatch.setattr(reading, "LOOKED_AT", 6)
    agents = [connect(delegate, name=f"Agent {number}")[1] for number in range(3)]
    for number in range(6):
        agents[number % 3].call("drafts.create", draft_body, key=f"k{number}")
        clock.shift(timedelta(seconds=1))
        agents[0].call("documents.get", id=MISSING)
        clock.shift(timedelta(seconds=1))
    told = walk(desk, query)
    written = [each for each in told if "wrote draft" in each]
    codes = [each.split("draft ")[1].split()[0] for each in written]
    refused = sum("was refused documents.get" in each for each in told)
    newest = Document.objects.order_by("-created_at")
    if query != "outcome=not_found":
        assert codes == [each.draft_code for each in newest]
    if query != "kind=drafts.create":
        assert refused >= 3  # those of one page are one sentence


def test_calls_are_counted_by_the_days_of_the_person_s_zone(sign_in, delegate, agent, clock):
    User.objects.filter(pk=delegate.pk).update(time_zone="Asia/Tokyo")
    delegate.refresh_from_db()
    for at in (datetime(2026, 3, 1, 14, 59, tzinfo=UTC), datetime(2026, 3, 1, 15, 1, tzinfo=UTC)):
        clock.move_to(at, tick=False)
        agent.call("customers.search")
    clock.move_to(datetime(2026, 3, 2, 9, 1, tzinfo=UTC), tick=False)
    agent.call("customers.search")
    page = text_of(sign_in(delegate).get(PAGE).content.decode())
    assert "Calls in 14 days 3" in page
    assert "March 2, 2026 2 March 1, 2026 1 February 28, 2026 0" in page


def test_what_is_older_than_fourteen_days_is_not_counted_but_told(sign_in, delegate, worked, clock):
    clock.shift(timedelta(days=14))
    answer = sign_in(delegate).get(PAGE)
    assert figures(answer) == [
        "Calls in 14 days 0",
        "Drafts written 0",
        "Issued 0",
        "Calls refused 0",
    ]
    assert part(answer, "acts").startswith("March 2, 2026 09:05 Test agent was refused")


def test_a_scope_that_is_missing_is_named(sign_in, connect, delegate, owner, draft_body):
    held, agent = connect(delegate, scopes=["customers:read"], name="Reader")
    agent.call("drafts.create", draft_body, key="a-key")
    for browser in (sign_in(delegate), sign_in(owner)):
        [told] = acts(browser.get(f"{PAGE}?connection={held.pk}"))
        assert "The connection has no grant for invoices:prepare." in told
        assert "If it should have one, the owner renews the connection with it." in told


def test_namesakes_are_told_apart(sign_in, owner, connect, delegate, draft_body, clock):
    for _ in range(2):
        _, agent = connect(delegate, name="Claude")
        agent.call("drafts.create", draft_body, key="a-key")
        clock.shift(timedelta(days=1))
    page = sign_in(owner).get(PAGE)
    assert [each.split("Claude wrote draft ")[1][10:] for each in acts(page)] == [
        " for Dana Delegate, connected on March 3, 2026 Written",
        " for Dana Delegate, connected on March 2, 2026 Written",
    ]
    options = re.findall(r"<option value=\"[^\"]{36}\">(Claude[^<]*)<", page.content.decode())
    assert options == [
        "Claude, for Dana Delegate since March 3, 2026",
        "Claude, for Dana Delegate since March 2, 2026",
    ]
    newest = Connection.objects.order_by("-pk").first()
    assert newest is not None
    title = sign_in(owner).get(f"{PAGE}?connection={newest.pk}").content.decode()
    assert (
        "<title>Activity of Claude, for Dana Delegate since March 3, 2026 · Invoicing</title>"
        in title
    )


def test_who_asks_again_is_told_only_what_changed(desk, agent, draft_body):
    first = desk.get(ROWS)
    tag = first.headers["ETag"]
    assert desk.get(ROWS, headers={"if-none-match": tag}).status_code == 304
    agent.call("drafts.create", draft_body, key="a-key")
    again = desk.get(ROWS, headers={"if-none-match": tag})
    assert again.status_code == 200
    assert len(acts(again)) == 1


def test_nobody_reads_it_without_signing_in():
    for path in (PAGE, ROWS):
        assert Browser().get(path).headers["Location"].startswith("/sign-in?")


def test_nothing_yet_leads_on(sign_in, owner):
    nora = UserFactory.create(name="Nora New")
    assert part(sign_in(nora).get(PAGE), "acts") == (
        "No agent has written anything for you yet. What your agents write, and what you decide,"
        " is told here."
    )
    assert part(sign_in(owner).get(PAGE), "acts") == (
        "Agents have written nothing yet. Connect one : what it writes, and what it is refused, is"
        " told here."
    )


def test_a_text_of_somebody_is_only_text(desk, connect, delegate, draft_body):
    customer = CustomerFactory.create(name="<b>Ltd</b>")
    _, agent = connect(delegate, name="<i>Agent</i>")
    agent.call("drafts.create", {**draft_body, "customer_id": str(customer.pk)}, key="a-key")
    page = desk.get(PAGE).content.decode()
    assert "&lt;i&gt;Agent&lt;/i&gt;" in page
    assert "&lt;b&gt;Ltd&lt;/b&gt;" in page
    assert [each for each in ("<i>Agent", "<b>Ltd") if each in page] == []


@pytest.mark.parametrize("who", ["owner", "delegate"])
def test_the_queries_are_as_many_however_much_agents_did(  # noqa: PLR0917  fixtures
    request, sign_in, connect, delegate, draft_body, clock, who
):
    browser = sign_in(request.getfixturevalue(who))
    agents = [connect(delegate, name=f"Agent {number}")[1] for number in range(4)]

    def count() -> int:
        with CaptureQueriesContext(database) as queries:
            assert browser.get(PAGE).status_code == 200
        return len(queries)

    def act(number: int) -> None:
        agents[number % 4].call("drafts.create", draft_body, key=f"k{number}")
        agents[number % 4].call("documents.get", id=MISSING)
        clock.shift(timedelta(seconds=1))

    act(0)
    count()
    few = count()
    for number in range(1, 12):
        act(number)
    assert count() == few
