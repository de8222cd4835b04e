"""The inbox: what waits stands first, and its number in the navigation."""

import re
from datetime import timedelta
from typing import Any

import pytest

from agent_access.approvals import inbox
from agent_access.approvals.models import Decision
from agent_access.connections import revoke_connection
from agent_access.models.connections import RevokedReason
from invoicing.access import Permission
from invoicing.identifiers import new_id
from invoicing.models import Customer, Document
from invoicing.services.drafts import ConnectionRef
from tests.approvals import PREPARED_AT, TEN_MINUTES_LATER, prepare
from tests.factories import make_draft, withdraw
from tests.web.forms import text_of
from tests.web.reviews import read

pytestmark = pytest.mark.usefixtures("clock")


def navigation_of(answer: Any) -> str:
    page: str = answer.content.decode()
    return page.split("<nav")[1].split("</nav>", maxsplit=1)[0]


def test_an_empty_inbox_says_what_it_is_for(desk, delegate):
    answer = desk.get("/approvals")
    assert "Nothing is waiting for you." in read(answer)
    assert 'class="count"' not in navigation_of(answer)


def test_what_waits_stands_first_and_is_counted(desk, delegate, draft):
    maker = ConnectionRef(new_id(), "Ledger agent")
    rejected, waiting = [prepare(draft, user=delegate, connection=maker) for _ in range(2)]
    rejected.decide(Decision.REJECTED)
    answer = desk.get("/approvals")
    row = f"Acme Ltd {draft.draft_code} March 2, 2026, 09:00 UTC by Ledger agent"

    assert read(answer).endswith(
        f"Waiting for you Approvals waiting for you Customer Document Prepared State Total {row}"
        " Waiting for you 9 min 0 s left €100.00 Earlier Earlier approvals Customer Document"
        f" Prepared State Total {row} Rejected €100.00"
    )
    assert re.findall(r'href="(/approvals/.*?)"', answer.content.decode()) == [
        f"/approvals/{each.approval.id}" for each in (waiting, rejected)
    ]
    assert '<span class="count">1<span class="unseen"> waiting</span></span>' in navigation_of(
        answer
    )


def test_what_waits_is_told_apart_by_its_reference(desk, delegate, customer):
    draft = make_draft(user=delegate, customer=customer, reference="PO 7")
    prepare(draft, user=delegate)
    assert f"Acme Ltd {draft.draft_code} PO 7 " in read(desk.get("/approvals"))


def test_a_draft_says_to_its_person_alone_that_an_agent_asks_for_its_issue(
    sign_in, desk, delegate, colleague, draft
):
    maker = ConnectionRef(new_id(), "Ledger agent")
    rejected, waiting = [prepare(draft, user=delegate, connection=maker) for _ in range(2)]
    rejected.decide(Decision.REJECTED)
    path = f"/documents/{draft.id}"
    answer = desk.get(path)

    assert "The agent “Ledger agent” asks you to issue this invoice." in text_of(answer)
    assert "Review it : 9 min 0 s left." in read(answer)
    assert re.findall(r'href="(/approvals/.*?)"', answer.content.decode()) == [
        f"/approvals/{each.approval.id}" for each in (waiting, rejected)
    ]
    assert 'href="/approvals/' not in sign_in(colleague).get(path).content.decode()


def test_a_draft_says_to_its_person_what_they_decided_of_it(desk, delegate, draft, connect):
    connection, _ = connect(delegate)
    maker = ConnectionRef(connection.id, "Ledger agent")
    rejected, approved, late = [prepare(draft, user=delegate, connection=maker) for _ in range(3)]

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
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
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


def test_once_the_connection_has_ended_nothing_waits_for_the_agent(desk, delegate, draft, connect):
    connection, _ = connect(delegate)
    maker = ConnectionRef(connection.id, connection.name)
    _, approved, rejected = [prepare(draft, user=delegate, connection=maker) for _ in range(3)]
    approved.decide(Decision.APPROVED)
    rejected.decide(Decision.REJECTED)

    def read_states() -> list[str]:
        page = read(desk.get("/approvals"))
        return re.findall(r"Waiting for you (?=\d)|Approved|Connection ended|Rejected|left", page)

    assert read_states() == ["Waiting for you ", "left", "Rejected", "Approved", "left"]
    assert desk.get("/approvals/waiting").json()["count"] == 1
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    assert read_states() == ["Rejected", "Connection ended", "Connection ended"]
    assert desk.get("/approvals/waiting").json() == {"count": 0, "latest": ""}
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
    assert desk.get(path).json() == {"count": 0, "latest": ""}
    first = prepare(draft, user=delegate)
    prepare(draft, user=delegate, now=PREPARED_AT + timedelta(seconds=1))
    assert desk.get(path).json() == {"count": 2, "latest": "2026-03-02T09:00:01.000000+00:00"}
    assert 'data-latest="2026-03-02T09:00:01.000000+00:00"' in navigation_of(desk.get("/people"))
    assert other.get(path).json() == {"count": 0, "latest": ""}
    first.decide()
    assert desk.get(path).json()["count"] == 1


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
    assert "Waiting for you Approvals waiting for you" in read(answer)


def test_a_signed_out_person_sees_nothing(browser):
    answer = browser.get("/approvals")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in?next=/approvals")
