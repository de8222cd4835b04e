"""The inbox: what waits stands first, and its number in the navigation."""

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from agent_access import waiting
from agent_access.approvals import inbox
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.connections import revoke_connection
from agent_access.models import AuditEvent
from agent_access.models.connections import RevokedReason
from agent_access.verification import find_breaks
from invoicing.access import Permission
from invoicing.identifiers import new_id
from invoicing.models import Customer, Document, User
from invoicing.services.drafts import ConnectionRef
from tests.approvals import PREPARED_AT, TEN_MINUTES_LATER, Prepared, prepare
from tests.factories import grant, make_connection_ref, make_draft, withdraw
from tests.interface.refusals import nothing_changes
from tests.web.forms import text_of
from tests.web.reviews import decision_of, path_of, read, send

pytestmark = pytest.mark.usefixtures("clock")

SECOND = timedelta(seconds=1)


def navigation_of(answer: Any) -> str:
    page: str = answer.content.decode()
    return page.split("<nav")[1].split("</nav>", maxsplit=1)[0]


def test_an_empty_inbox_says_what_it_is_for(desk, delegate):
    answer = desk.get("/approvals")
    assert "Nothing is waiting for you." in read(answer)
    assert 'class="count"' not in navigation_of(answer)


def ask(user: User, customer: Customer, maker: ConnectionRef, **asked: Any) -> Prepared:
    """Ask for the issue of a new draft."""
    draft = make_draft(user=user, customer=customer)
    return prepare(draft, user=user, connection=maker, **asked)


def test_what_waits_stands_first_and_is_counted(desk, delegate, customer):
    maker = ConnectionRef(new_id(), "Ledger agent")
    rejected, waiting = [ask(delegate, customer, maker) for _ in range(2)]
    rejected.decide(Decision.REJECTED)
    answer = desk.get("/approvals")
    codes = [each.document.draft_code for each in (waiting, rejected)]

    assert read(answer).endswith(
        f"Waiting for you Acme Ltd €100.00 Issue {codes[0]} Waiting for you by Ledger agent ,"
        " 9 min 0 s left Act on all requests from Ledger agent Reject everything from it"
        " Earlier Earlier approvals"
        f" Customer Document Prepared State Total Acme Ltd {codes[1]} March 2, 2026, 09:00 UTC"
        " by Ledger agent Rejected €100.00"
    )
    assert hrefs_of(answer) == [path_of(each) for each in (waiting, rejected)]
    assert '<span class="count">1<span class="unseen"> waiting</span></span>' in navigation_of(
        answer
    )


def hrefs_of(answer: Any) -> list[str]:
    return re.findall(r'href="(/approvals/.*?)"', answer.content.decode())


@pytest.fixture
def repeated(delegate, draft, connection) -> list[Prepared]:
    """What an agent asks forty times within a minute."""
    maker = ConnectionRef(connection.id, "Ledger agent")
    return [
        prepare(draft, user=delegate, connection=maker, now=PREPARED_AT + each * SECOND)
        for each in range(40)
    ]


def test_what_is_asked_forty_times_is_one_card_for_one_decision(desk, delegate, draft, repeated):
    other = prepare(draft, user=delegate)
    answer = desk.get("/approvals")
    older = desk.get(path_of(repeated[0]))

    assert hrefs_of(answer) == [path_of(other), path_of(repeated[-1])]
    assert "by Ledger agent , asked 40 times , 9 min 39 s left" in read(answer)
    assert '<span class="count">2<' in navigation_of(answer)
    assert "asked you" not in read(answer)
    assert f'<a href="{path_of(repeated[-1])}">the newest request</a>' in older.content.decode()
    assert "The agent has asked for this again since" not in read(desk.get(path_of(repeated[-1])))

    send(desk, repeated[-1], "reject", reason="Once is enough.")
    rows = ApprovalRequest.objects.order_by("pk").values_list("pk", "decision", "rejection_reason")
    asked = {each.approval.pk for each in repeated}
    assert set(rows) == {(pk, "rejected", "Once is enough.") for pk in asked} | {
        (other.approval.pk, "", "")
    }
    told = AuditEvent.objects.filter(action="approval:rejected").order_by("sequence")
    assert [each.target for each in told] == [str(pk) for pk in sorted(asked)]
    assert list(find_breaks()) == []
    assert hrefs_of(desk.get("/approvals")) == [path_of(other), path_of(repeated[-1])]


def test_an_older_request_is_still_decided_by_its_link(desk, repeated):
    """Interface: several approvals of one draft may live."""
    send(desk, repeated[7], "approve")
    decisions = {decision_of(each) for each in repeated if each is not repeated[7]}
    assert (decision_of(repeated[7]), decisions) == ("approved", {""})
    assert hrefs_of(desk.get("/approvals")) == [path_of(repeated[-1]), path_of(repeated[7])]


def test_what_was_asked_again_is_no_longer_listed_once_it_is_over(desk, repeated, clock):
    clock.move_to(TEN_MINUTES_LATER + timedelta(minutes=1))
    assert hrefs_of(desk.get("/approvals")) == ["/approvals/missed", path_of(repeated[-1])]


def test_everything_from_one_agent_is_rejected_at_once_and_nothing_else(
    desk, customer, colleague, connection, repeated
):
    delegate, maker = repeated[0].user, ConnectionRef(connection.id, "Ledger agent")
    second = ask(delegate, customer, maker)
    approved, foreign = ask(delegate, customer, maker), ask(colleague, customer, maker)
    approved.decide()
    others = [ask(delegate, customer, make_connection_ref()), foreign]
    stale = ask(delegate, customer, maker)
    Document.objects.filter(pk=stale.document.pk).update(lock_version=2)
    path = f"/approvals/connections/{connection.id}/reject"
    with nothing_changes():
        assert desk.get(path)["Location"] == "/approvals"
        desk.handler.enforce_csrf_checks = True
        assert desk.post(path).status_code == 403
        desk.handler.enforce_csrf_checks = False

    assert f'action="{path}"' in desk.get("/approvals").content.decode()
    assert desk.post(path)["Location"] == "/approvals"
    assert {decision_of(each) for each in (*repeated, second)} == {"rejected"}
    assert [decision_of(each) for each in (approved, stale, *others)] == ["approved", "", "", ""]
    told = AuditEvent.objects.filter(action="approval:rejected", actor_id=delegate.pk)
    rejected = ApprovalRequest.objects.filter(decision=Decision.REJECTED)
    assert set(told.values_list("target", flat=True)) == {str(each.pk) for each in rejected}
    assert list(find_breaks()) == []
    with nothing_changes():
        desk.post(path)


def test_only_whoever_may_end_the_connection_can_stop_the_agent_from_a_card(
    sign_in, owner, delegate, customer, connect
):
    grant(owner, Permission.VIEW_DOCUMENT, Permission.VIEW_ALL_CUSTOMERS)
    page = ""
    for person in (delegate, owner):
        connection, _ = connect(person)
        ask(person, customer, ConnectionRef(connection.id, "Ledger agent"))
        page = f"/admin/agent_access/connection/revoke/?id={connection.id}"
        answer = sign_in(person).get("/approvals")
        is_offered = f'href="{page}">Stop this agent' in answer.content.decode()
        assert is_offered == (person == owner)
    asked = sign_in(owner).get(page)
    assert "Revoke 1 connection?" in asked.content.decode()


class Greeting:
    """Something else that waits for one person."""

    def __init__(self, person: User) -> None:
        self.person = person

    def tell(self, pk: UUID, person: User, *, now: datetime) -> None:
        return None

    def find_pending(self, person: User, *, now: datetime) -> list[waiting.Told]:
        told = waiting.Told(
            title="Say hello?",
            sentence="A colleague asks.",
            details="Colin",
            path="/people",
            expires_at=now + timedelta(minutes=2),
        )
        return [told] if person == self.person else []


def test_what_other_apps_ask_stands_above_and_is_counted(
    desk, sign_in, colleague, delegate, draft, monkeypatch
):
    monkeypatch.setitem(waiting.subjects, "greeting", Greeting(delegate))
    answer = desk.get("/approvals")
    assert read(answer).endswith(
        "Waiting for you Say hello? A colleague asks. Colin Waiting for you 2 min 0 s left"
    )
    assert '<h3><a href="/people">' in answer.content.decode()
    prepare(draft, user=delegate)
    assert desk.get("/approvals/waiting").json()["count"] == 2
    assert sign_in(colleague).get("/approvals/waiting").json()["count"] == 0


def test_what_waits_is_told_apart_by_its_reference(desk, delegate, customer):
    draft = make_draft(user=delegate, customer=customer, reference="PO 7")
    prepare(draft, user=delegate)
    assert f"Acme Ltd €100.00 Issue {draft.draft_code} PO 7 " in read(desk.get("/approvals"))


def test_a_draft_says_to_its_person_alone_that_an_agent_asks_for_its_issue(
    sign_in, desk, delegate, colleague, draft
):
    makers = [ConnectionRef(new_id(), "Ledger agent") for _ in range(2)]
    rejected, asked = [prepare(draft, user=delegate, connection=each) for each in makers]
    rejected.decide(Decision.REJECTED)
    path = f"/documents/{draft.id}"
    answer = desk.get(path)

    assert "The agent “Ledger agent” asks you to issue this invoice." in text_of(answer)
    assert "Review it : 9 min 0 s left." in read(answer)
    assert hrefs_of(answer) == [path_of(each) for each in (asked, rejected)]
    assert 'href="/approvals/' not in sign_in(colleague).get(path).content.decode()


def test_a_draft_says_to_its_person_what_they_decided_of_it(desk, delegate, draft, connect):
    connections = [connect(delegate)[0] for _ in range(3)]
    rejected, approved, late = [
        prepare(draft, user=delegate, connection=ConnectionRef(each.id, "Ledger agent"))
        for each in connections
    ]

    def told() -> str:
        page = read(desk.get(f"/documents/{draft.id}"))
        return page.partition("Ledger agent ” to issue this invoice: ")[2]

    assert told() == ""
    rejected.decide(Decision.REJECTED)
    assert told().startswith("Rejected .")
    approved.decide(Decision.APPROVED, now=PREPARED_AT + timedelta(seconds=61))
    left = "The agent has 9 min 0 s left to issue it, unless the draft is saved again."
    assert told().startswith(f"Approved . {left}")
    late.decide(Decision.REJECTED, now=PREPARED_AT + timedelta(seconds=62))
    assert told().startswith(f"Approved . {left}"), "this one can still be used"
    withdraw(delegate, Permission.MANAGE)
    assert told().startswith("Approved . The agent cannot issue it at this moment: your account")
    Document.objects.filter(pk=draft.pk).update(lock_version=2)
    assert told() == ""
    Document.objects.filter(pk=draft.pk).update(lock_version=1)
    for each in connections:
        revoke_connection(each.id, reason=RevokedReason.OWNER_REVOKED)
    assert told() == ""


def told_on(browser: Any, draft: Document) -> list[str]:
    page = read(browser.get(f"/documents/{draft.id}"))
    return re.findall(r"to issue this invoice: (\w+)", page)


def test_a_draft_tells_an_approval_that_can_be_used_after_any_number_of_rejections(
    desk, delegate, draft, monkeypatch
):
    monkeypatch.setattr(inbox, "PAGE_LENGTH", 2)
    approved, *others = [prepare(draft, user=delegate) for _ in range(4)]
    approved.decide(Decision.APPROVED)
    for each in others:
        each.decide(Decision.REJECTED, now=PREPARED_AT + timedelta(seconds=62))
    assert told_on(desk, draft) == ["Approved"]


def test_a_draft_tells_no_rejection_before_its_last_decision(desk, delegate, draft, clock):
    rejected, approved = [prepare(draft, user=delegate) for _ in range(2)]
    rejected.decide(Decision.REJECTED)
    assert told_on(desk, draft) == ["Rejected"]
    approved.decide(Decision.APPROVED, now=PREPARED_AT + timedelta(seconds=61))
    assert told_on(desk, draft) == ["Approved"]
    clock.move_to(TEN_MINUTES_LATER)
    assert told_on(desk, draft) == []


def test_once_the_connection_has_ended_nothing_waits_for_the_agent(
    desk, delegate, draft, customer, connect
):
    connection, _ = connect(delegate)
    maker = ConnectionRef(connection.id, connection.name)
    prepare(draft, user=delegate, connection=maker)
    approved, rejected = [ask(delegate, customer, maker) for _ in range(2)]
    approved.decide(Decision.APPROVED)
    rejected.decide(Decision.REJECTED)

    def read_states() -> list[str]:
        page = read(desk.get("/approvals"))
        return re.findall(r"Waiting for you (?=by)|Approved|Connection ended|Rejected|left", page)

    assert read_states() == ["Waiting for you ", "left", "Rejected", "Approved", "left"]
    assert desk.get("/approvals/waiting").json()["count"] == 1
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    assert read_states() == ["Rejected", "Connection ended", "Connection ended"]
    assert desk.get("/approvals/waiting").json() == {"count": 0, "shown": "0", "latest": ""}
    assert "asks you" not in read(desk.get(f"/documents/{draft.id}"))


def test_a_draft_that_changed_says_nothing_of_what_was_asked_before(desk, delegate, draft):
    prepare(draft, user=delegate)
    Customer.objects.update(street="Elsewhere 1")
    assert "asks you" not in read(desk.get(f"/documents/{draft.id}"))


def test_what_one_may_no_longer_see_is_in_no_list_and_in_no_count(desk, delegate, draft):
    decided, _ = [prepare(draft, user=delegate) for _ in range(2)]
    decided.decide(Decision.REJECTED)
    assert desk.get("/approvals").content.decode().count('href="/approvals/') == 2
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    answer = desk.get("/approvals")
    assert 'href="/approvals/' not in answer.content.decode()
    assert 'class="count"' not in navigation_of(answer)


def test_the_count_stands_on_every_page_and_is_each_persons_own(
    sign_in, desk, delegate, colleague, draft
):
    prepare(draft, user=delegate)
    assert 'class="count"' in navigation_of(desk.get("/customers"))
    assert 'class="count"' not in navigation_of(sign_in(colleague).get("/customers"))


def test_a_script_is_told_how_many_wait_and_when_the_latest_was_prepared(
    sign_in, desk, delegate, colleague, draft
):
    other = sign_in(colleague)
    path = "/approvals/waiting"
    assert desk.get(path).json() == {"count": 0, "shown": "0", "latest": ""}
    first = prepare(draft, user=delegate)
    prepare(draft, user=delegate, now=PREPARED_AT + timedelta(seconds=1))
    told = {"count": 2, "shown": "2", "latest": "2026-03-02T09:00:01.000000+00:00"}
    assert desk.get(path).json() == told
    assert 'data-latest="2026-03-02T09:00:01.000000+00:00"' in navigation_of(desk.get("/people"))
    assert other.get(path).json() == {"count": 0, "shown": "0", "latest": ""}
    first.decide()
    assert desk.get(path).json()["count"] == 1


def test_of_very_many_that_wait_the_first_are_counted(desk, delegate, draft, monkeypatch):
    """Else a flood of requests would make every page slow."""
    assert inbox.MOST_COUNTED == 99
    monkeypatch.setattr(inbox, "MOST_COUNTED", 1)
    prepare(draft, user=delegate)
    latest = "2026-03-02T09:00:01.000000+00:00"
    prepare(draft, user=delegate, now=PREPARED_AT + timedelta(seconds=1))
    told = {"count": 1, "shown": "1+", "latest": latest}
    assert desk.get("/approvals/waiting").json() == told
    assert '<span class="count">1+<' in navigation_of(desk.get("/people"))


def test_a_script_of_somebody_signed_out_is_told_nothing(browser):
    answer = browser.get("/approvals/waiting")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in?next=/approvals/waiting")


def test_pages_lead_on_to_the_oldest(desk, delegate, draft):
    made = [prepare(draft, user=delegate) for _ in range(30)]
    for each in made:
        each.decide()
    first = desk.get("/approvals").content.decode()
    [following] = re.findall(r'href="(\?before=[^"]*)"', first)
    second = desk.get(f"/approvals{following}").content.decode()

    assert first.count('href="/approvals/') == 25
    assert re.findall(r'href="/approvals/(.*?)"', second) == [
        str(each.approval.id) for each in reversed(made[:5])
    ]
    assert 'rel="next"' not in second


def test_pages_lead_on_through_all_that_waits_and_all_of_it_is_counted(desk, delegate, draft):
    made = [prepare(draft, user=delegate) for _ in range(30)]
    answer = desk.get("/approvals")
    [following] = re.findall(r'href="(\?after=[^"]*)"', answer.content.decode())
    second = desk.get(f"/approvals{following}").content.decode()

    assert '<span class="count">30<span' in navigation_of(answer)
    assert re.findall(r'href="/approvals/(.*?)"', second) == [
        str(each.approval.id) for each in made[25:]
    ]
    assert "Waiting for you, continued" in second
    assert "?after=" not in second


@pytest.mark.parametrize("name", ["before", "after"])
@pytest.mark.parametrize("cursor", ["", "x", "0", "%00"])
def test_a_malformed_cursor_is_the_first_page(desk, delegate, draft, name, cursor):
    prepare(draft, user=delegate)
    answer = desk.get(f"/approvals?{name}={cursor}")
    assert answer.status_code == 200
    assert read(answer).startswith("Approvals Waiting for you Acme Ltd")


def test_a_signed_out_person_sees_nothing(browser):
    answer = browser.get("/approvals")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in?next=/approvals")
