"""Who decides on the review page, and what a decision does."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client

from agent_access.approvals import engine, views
from agent_access.approvals.errors import ApprovalStateError
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.connections import revoke_connection
from agent_access.models import AuditEvent
from agent_access.models.connections import RevokedReason
from invoicing.access import Permission
from invoicing.fixed_point import SCALE
from invoicing.models import Customer, Document, User
from invoicing.services.drafts import ConnectionRef
from tests.approvals import PREPARED_AT, TEN_MINUTES_LATER, Prepared, prepare
from tests.factories import (
    CustomerFactory,
    UserFactory,
    grant,
    line_input,
    make_draft,
    make_issued,
    withdraw,
)
from tests.interface.refusals import nothing_changes
from tests.snapshots import take_snapshot
from tests.web.reviews import decision_of, path_of, read, send

SECOND = timedelta(seconds=1)


@pytest.mark.requirement("approval.approve")
def test_approving_leads_back_to_the_page_which_says_what_was_decided(desk, prepared):
    answer = send(desk, prepared, "approve")
    page = read(desk.get(path_of(prepared)))

    assert (answer.status_code, answer["Location"]) == (302, path_of(prepared))
    assert "You approved it on March 2, 2026, 09:01 UTC." in page
    assert "until 09:10:00 UTC: 9 min 0 s left. Nothing has been issued yet." in page
    assert "As soon as you withdraw your approval, or the draft is saved again," in page
    assert "Approve issue" not in page
    assert decision_of(prepared) == "approved"
    event = AuditEvent.objects.get(action="approval:approved")
    assert (event.transport, event.client_address) == ("web", "127.0.0.1")
    assert event.request_id == answer["X-Request-Id"]


def test_a_program_that_is_known_by_a_token_of_the_person_decides_nothing(prepared, rf, delegate):
    """As with a project's middleware that knows people by tokens."""
    form = {"decision": "approve", "fingerprint": prepared.approval.fingerprint, "reason": ""}
    request = rf.post(path_of(prepared), form)
    request.user, request.session = delegate, {}

    with nothing_changes(), pytest.raises(PermissionDenied):
        views.review(request, prepared.approval.pk)


def test_a_program_with_such_a_token_decides_nothing_by_a_session_that_another_password_ended(
    prepared, rf, desk, delegate
):
    form = {"decision": "approve", "fingerprint": prepared.approval.fingerprint, "reason": ""}
    request = rf.post(path_of(prepared), form)
    request.session = desk.session
    delegate.set_password("another-password-that-is-long-enough")
    delegate.save()
    request.user = request._cached_user = delegate  # as django-oauth-toolkit's middleware does

    with pytest.raises(PermissionDenied):
        views.review(request, prepared.approval.pk)
    assert decision_of(prepared) == ""


@pytest.fixture
def ask_version(desk: Client, prepared: Prepared) -> Callable[[], str]:
    """Return a function that asks, as the script of the page does, what the page would say now."""

    def ask() -> str:
        told: str = desk.get(f"{path_of(prepared)}/version").json()["version"]
        return told

    return ask


def test_the_script_of_a_pending_page_starts_from_what_the_page_says(desk, prepared, ask_version):
    page = desk.get(path_of(prepared)).content.decode()
    assert f'data-version="{ask_version()}"' in page
    assert f'data-ask="{path_of(prepared)}/version"' in page


def test_the_script_of_an_approved_page_is_told_what_changed(
    desk, prepared, ask_version, delegate, clock
):
    send(desk, prepared, "approve")
    first = ask_version()
    path = f"{path_of(prepared)}/version"
    page = desk.get(path_of(prepared)).content.decode()
    assert f'data-version="{first}"' in page
    assert f'data-ask="{path}"' in page
    clock.shift(SECOND)
    assert ask_version() == first, "the time left is counted down by another script"
    withdraw(delegate, Permission.MANAGE)
    lacking = ask_version()
    grant(delegate, Permission.MANAGE)
    assert ask_version() == first
    revoke_connection(prepared.approval.connection_id, reason=RevokedReason.OWNER_REVOKED)
    ended = ask_version()
    prepared.execute()
    versions = [first, lacking, ended, ask_version()]
    assert [each.split()[0] for each in versions] == ["approved"] * 3 + ["executed"]
    assert len(set(versions)) == 4


def test_the_script_of_another_person_is_told_nothing(prepared, sign_in, colleague):
    assert sign_in(colleague).get(f"{path_of(prepared)}/version").status_code == 404


def test_the_script_of_a_pending_page_is_told_all_that_changes_it(
    prepared, ask_version, delegate, customer
):
    versions = [ask_version()]
    total = prepared.document.grand_total
    issued = make_issued(customer=customer, lines=(line_input(unit_price=total, quantity=SCALE),))
    assert issued.grand_total == total
    versions.append(ask_version())
    for lost in (Permission.MANAGE, Permission.FINALIZE, Permission.VIEW_ALL_CUSTOMERS):
        withdraw(delegate, lost)
        versions.append(ask_version())
    assert len(set(versions)) == 5
    assert {each.split()[0] for each in versions} == {"pending"}


def test_whoever_cannot_see_the_document_any_more_learns_nothing_of_it(
    desk, prepared, ask_version, delegate
):
    send(desk, prepared, "approve")
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    assert "There is nothing left for you to decide." in read(desk.get(path_of(prepared)))
    hidden = ask_version()
    Customer.objects.update(name="Acme Limited")
    assert ask_version() == hidden
    assert prepared.document.draft_code not in hidden


def withdraw_approval(browser: Client, prepared: Prepared) -> Any:
    return browser.post(f"{path_of(prepared)}/withdraw")


def test_what_was_approved_is_withdrawn_before_the_agent_does_it(desk, prepared, agent):
    """The draft is saved anew, so the agent gets `approval_stale`."""
    send(desk, prepared, "approve")
    page = read(desk.get(path_of(prepared)))
    answer = withdraw_approval(desk, prepared)
    after = read(desk.get(answer["Location"]))

    assert "Withdraw the approval" in page
    assert "You withdrew your approval: the agent can no longer do this." in after
    assert "Version of the draft 1 2" in after
    assert "Withdraw the approval" not in after
    assert Document.objects.get().lock_version == 2
    with pytest.raises(ApprovalStateError, match="stale"):
        prepared.execute()
    event = AuditEvent.objects.get(action="approval:withdrawn")
    assert (event.chain, event.actor_id, event.target, event.detail, event.outcome) == (
        str(prepared.approval.connection_id),
        prepared.user.pk,
        str(prepared.approval.pk),
        str(prepared.document.pk),
        "ok",
    )


@pytest.mark.parametrize("state", ["pending", "rejected", "executed", "expired", "stale"])
def test_what_is_not_approved_and_unexecuted_is_not_withdrawn(desk, prepared, clock, state):
    if state in {"executed", "expired", "stale"}:
        prepared.decide()
    if state == "rejected":
        prepared.decide(Decision.REJECTED)
    if state == "executed":
        prepared.execute()
    if state == "expired":
        clock.move_to(TEN_MINUTES_LATER, tick=False)
    if state == "stale":
        Document.objects.update(lock_version=2)
    with nothing_changes():
        answer = withdraw_approval(desk, prepared)
    assert answer.status_code == 409
    assert "Withdraw the approval" not in read(answer)


def test_only_who_approved_it_withdraws_it_in_their_session_and_by_the_button(
    desk, prepared, sign_in, colleague, rf
):
    send(desk, prepared, "approve")
    path, delegate = f"{path_of(prepared)}/withdraw", prepared.user
    other = sign_in(colleague)
    request = rf.post(path)
    request.user, request.session = delegate, {}  # as a project's middleware knows a token
    with nothing_changes():
        assert other.post(path).status_code == 404
        assert desk.get(path)["Location"] == path_of(prepared)
        desk.handler.enforce_csrf_checks = True
        assert desk.post(path).status_code == 403
        desk.handler.enforce_csrf_checks = False
        with pytest.raises(PermissionDenied):
            views.withdraw_approval(request, prepared.approval.pk)
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    assert withdraw_approval(desk, prepared).status_code == 404
    assert Document.objects.get().lock_version == 1


@pytest.mark.requirement("approval.reject")
def test_rejecting_carries_the_reason(desk, prepared):
    send(desk, prepared, "reject", reason="  Wrong\r\ncustomer.\t")
    page = read(desk.get(path_of(prepared)))

    assert "You rejected it on March 2, 2026, 09:01 UTC." in page
    assert "The agent can read your reason: Wrong customer." in page
    assert ApprovalRequest.objects.get().rejection_reason == "Wrong\ncustomer."


NEXT = "Next request that waits for you"


def ask(prepared: Prepared, **asked: Any) -> Prepared:
    """Ask, by the same connection, for the issue of another draft."""
    draft = make_draft(user=prepared.user, customer=prepared.document.customer)
    maker = ConnectionRef(prepared.approval.connection_id, "Ledger agent")
    return prepare(draft, user=prepared.user, connection=maker, **asked)


def links_to(words: str, answer: Any) -> list[str]:
    return re.findall(rf'href="([^"]*)"[^>]*>{words}</a>', answer.content.decode())


def test_a_decision_leads_on_to_the_request_that_expires_next(desk, prepared, delegate):
    following, last = [ask(prepared, now=PREPARED_AT + each * SECOND) for each in (1, 2)]
    assert NEXT not in read(desk.get(path_of(prepared)))
    for here, next_one in [(prepared, following), (following, last)]:
        send(desk, here, "reject")
        assert links_to(NEXT, desk.get(path_of(here))) == [path_of(next_one)]
    send(desk, last, "reject")
    assert NEXT not in read(desk.get(path_of(last)))


def test_pages_lead_to_the_requests_before_and_after_that_can_be_decided(desk, prepared):
    stale, first, last = [ask(prepared, now=PREPARED_AT + each * SECOND) for each in (1, 2, 3)]
    Document.objects.filter(pk=stale.document.pk).update(lock_version=2)
    for here, previous, following in [
        (prepared, [], [first]),
        (first, [prepared], [last]),
        (last, [first], []),
    ]:
        answer = desk.get(path_of(here))
        assert links_to("Previous request", answer) == [path_of(each) for each in previous]
        assert links_to("Next request", answer) == [path_of(each) for each in following]


def test_a_request_that_nobody_can_decide_any_more_is_not_the_next(
    desk, prepared, delegate, connect
):
    """Another is stale since its customer changed, and one is of a connection that has ended."""
    maker = ConnectionRef(prepared.approval.connection_id, "Ledger agent")
    ended, _ = connect(delegate)
    drafts = [make_draft(user=delegate, customer=CustomerFactory.create()) for _ in range(3)]
    makers = maker, ConnectionRef(ended.id, ended.name), maker
    stale, _, decidable = [
        prepare(draft, user=delegate, connection=each)
        for draft, each in zip(drafts, makers, strict=True)
    ]
    Customer.objects.filter(pk=drafts[0].customer_id).update(street="Elsewhere 1")
    revoke_connection(ended.id, reason=RevokedReason.OWNER_REVOKED)
    send(desk, prepared, "reject")
    for here in (prepared, stale):
        assert links_to(NEXT, desk.get(path_of(here))) == [path_of(decidable)]
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    CustomerFactory.create()
    assert NEXT not in read(desk.get(path_of(prepared)))


def test_who_may_not_see_a_document_is_led_on_as_well(desk, prepared, delegate):
    own = CustomerFactory.create(account_managers=[delegate])
    maker = ConnectionRef(prepared.approval.connection_id, "Ledger agent")
    following = prepare(make_draft(user=delegate, customer=own), user=delegate, connection=maker)
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    send(desk, prepared, "reject")
    page = desk.get(path_of(prepared))
    assert "whose customer you may no longer see" in read(page)
    assert links_to(NEXT, page) == [path_of(following)]


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_who_was_signed_out_meanwhile_decides_nothing(
    desk, prepared, delegate, monkeypatch, decision
):
    lock_approval = engine.lock_approval

    def end_sessions_first(*args: Any, **wanted: Any) -> Any:
        User.objects.filter(pk=delegate.pk).update(session_revision=2)
        return lock_approval(*args, **wanted)

    monkeypatch.setattr(engine, "lock_approval", end_sessions_first)
    assert send(desk, prepared, decision).status_code == 403
    assert decision_of(prepared) == ""


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_at_ten_minutes_it_is_too_late(desk, prepared, clock, decision):
    clock.move_to(TEN_MINUTES_LATER, tick=False)
    with nothing_changes():
        answer = send(desk, prepared, decision)

    assert answer.status_code == 409
    assert "Nothing was decided just now." in read(answer)
    assert "Its ten minutes ended at 09:10:00 UTC without a decision." in read(answer)
    clock.move_to(TEN_MINUTES_LATER - SECOND, tick=False)
    assert "9 min" not in read(desk.get(path_of(prepared)))
    assert send(desk, prepared, decision).status_code == 302


def test_a_form_from_before_its_connection_ended_approves_nothing_and_says_so(
    desk, prepared, connection
):
    assert "Approve issue" in read(desk.get(path_of(prepared)))
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    with nothing_changes():
        answer = send(desk, prepared, "approve")

    assert answer.status_code == 409
    assert "The agent can no longer issue this" in read(answer)
    assert "Nothing was decided just now." in read(answer)
    assert "The connection that asked for this has ended" in read(answer)
    assert "Approve issue" not in read(answer)
    assert send(desk, prepared, "reject").status_code == 302
    assert decision_of(prepared) == "rejected"


def test_what_the_form_did_not_show_is_not_decided(desk, prepared):
    with nothing_changes():
        for fingerprint in ("", "0" * 64, "é"):
            answer = send(desk, prepared, "approve", fingerprint=fingerprint)
            assert answer.status_code == 409
            assert "Nothing was decided just now." in read(answer)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"decision": "perhaps"}, "Nothing was decided just now."),
        ({"decision": ""}, "Nothing was decided just now."),
        ({"decision": "approved"}, "Nothing was decided just now."),
        ({"fingerprint": "0" * 65}, "Nothing was decided just now."),
        ({"reason": "x" * 501}, "It can have at most 500 characters; this has 501."),
        ({"reason": "bell \a"}, "It holds a character that nobody can read."),
    ],
)
def test_a_form_that_cannot_be_read_decides_nothing_and_says_so(desk, prepared, form, said):
    with nothing_changes():
        answer = send(desk, prepared, **{"decision": "reject"} | form)
    assert answer.status_code == 422
    assert said in read(answer)


def test_a_reason_may_have_500_characters(desk, prepared):
    assert send(desk, prepared, "reject", reason="x" * 500).status_code == 302
    assert ApprovalRequest.objects.get().rejection_reason == "x" * 500


def test_a_reason_that_is_too_long_is_not_lost(desk, prepared):
    reason = "Wrong customer. " * 40
    answer = send(desk, prepared, "reject", reason=reason)
    assert "It can have at most 500 characters; this has 639." in read(answer)
    assert "Nothing was decided yet. Please correct the reason : it is marked" in read(answer)
    page = answer.content.decode()
    assert reason in page
    assert 'aria-describedby="reason-errors" autofocus>' in page
    assert '<ul class="errorlist" id="reason-errors">' in page
    assert "autofocus" not in desk.get(path_of(prepared)).content.decode()


def test_a_reason_that_is_too_long_and_too_late_decides_nothing_and_says_so(desk, prepared, clock):
    clock.move_to(TEN_MINUTES_LATER, tick=False)
    answer = send(desk, prepared, "reject", reason="x" * 501)
    assert answer.status_code == 422
    assert "Nothing was decided just now. The request is in this state:" in read(answer)
    assert decision_of(prepared) == ""


@pytest.mark.parametrize(("first", "again"), [("approve", "approve"), ("reject", "reject")])
def test_a_double_click_decides_once_and_shows_the_decision(desk, prepared, first, again):
    send(desk, prepared, first)
    with nothing_changes():
        answer = send(desk, prepared, again)
    assert (answer.status_code, answer["Location"]) == (302, path_of(prepared))


@pytest.mark.parametrize(("first", "then"), [("approve", "reject"), ("reject", "approve")])
def test_a_decision_is_not_turned_round(desk, prepared, first, then):
    send(desk, prepared, first)
    with nothing_changes():
        answer = send(desk, prepared, then)
    assert answer.status_code == 409
    assert "Nothing was decided just now." in read(answer)


@pytest.mark.requirement("approval.delegate_decides", "approval.others_cannot_decide")
def test_everybody_else_gets_the_same_404(sign_in, prepared, owner, colleague, stranger):
    superuser = UserFactory.create(is_superuser=True)
    missing = "/approvals/01890000-0000-7000-8000-000000000001"
    before = take_snapshot()
    for person in (owner, colleague, stranger, superuser):
        desk = sign_in(person)
        pages = [desk.get(path) for path in (path_of(prepared), missing)]
        posts = [desk.post(path, {"decision": "approve"}) for path in (path_of(prepared), missing)]
        assert [answer.status_code for answer in (*pages, *posts)] == [404] * 4
        assert len({read(answer) for answer in (*pages, *posts)}) == 1
    rows = ("sessions.Session", "invoices.User")
    after = take_snapshot()
    assert {k: v for k, v in after.items() if k not in rows} == {
        k: v for k, v in before.items() if k not in rows
    }


def test_a_signed_out_person_signs_in_and_comes_back(browser, prepared):
    there = f"/sign-in?next={path_of(prepared)}"
    seen, decided = browser.get(path_of(prepared)), send(browser, prepared, "approve")
    assert (seen.status_code, seen["Location"]) == (302, there)
    assert (decided.status_code, decided["Location"]) == (302, f"{there}&late")
    assert decision_of(prepared) == ""
    assert "nothing was decided" not in read(browser.get(there))
    assert "so this button did nothing" in read(browser.get(decided["Location"]))


def test_who_may_not_issue_is_told_why_and_can_only_reject(desk, prepared):
    withdraw(prepared.user, Permission.FINALIZE)
    answer = desk.get(path_of(prepared))
    refused = send(desk, prepared, "approve")

    assert "your account does not have the permission to issue documents" in read(answer)
    assert "Approve issue" not in read(answer)
    assert "What approving means" not in read(answer)
    assert refused.status_code == 403
    assert decision_of(prepared) == ""
    assert send(desk, prepared, "reject").status_code == 302
    assert decision_of(prepared) == Decision.REJECTED


def test_who_may_not_write_drafts_is_told_that_the_agent_cannot_issue_what_they_approve(
    desk, prepared
):
    """Interface: "Execution also rechecks `invoices.manage`"; to approve does not need it."""
    meant = "The agent may issue exactly this invoice, once, until 09:10:00 UTC."
    usual = read(desk.get(path_of(prepared)))
    assert (meant in usual, "cannot issue it" in usual) == (True, False)
    withdraw(prepared.user, Permission.MANAGE)
    pending = read(desk.get(path_of(prepared)))
    approved = read(desk.get(send(desk, prepared, "approve")["Location"]))

    assert meant not in pending
    assert "Once your account also has the permission named below, the agent may issue" in pending
    assert "If you approve it, the agent still cannot issue it: your account" in pending
    assert "You approved it on March 2, 2026, 09:01 UTC. The agent cannot issue it" in approved
    assert "Once you have both, the agent can issue exactly what is shown here" in approved
    grant(prepared.user, Permission.MANAGE)
    again = read(desk.get(path_of(prepared)))
    assert "09:01 UTC. The agent can issue exactly what is shown here until 09:10:00 UTC" in again


def test_out_of_scope_it_can_only_be_rejected_and_shows_nothing_of_the_document(desk, prepared):
    withdraw(prepared.user, Permission.VIEW_ALL_CUSTOMERS)
    make_draft(customer=CustomerFactory.create(account_managers=[prepared.user]))
    answer, before = desk.get(path_of(prepared)), take_snapshot()

    assert answer.status_code == 200
    assert "The agent Ledger agent asked you on March 2, 2026, 09:00 UTC" in read(answer)
    assert "You can reject it until 09:10:00 UTC: 9 min 0 s left." in read(answer)
    document = prepared.document
    for fact in (
        "Acme",
        "119.00",
        "Consulting",
        "Thank you",
        document.draft_code,
        str(document.pk),
    ):
        assert fact not in answer.content.decode()
    assert "Approve" not in answer.content.decode()
    assert send(desk, prepared, "approve").status_code == 404
    assert take_snapshot() == before

    assert send(desk, prepared, "reject", reason="Not mine.").status_code == 302
    assert decision_of(prepared) == Decision.REJECTED
    assert "You rejected it. Nothing is issued by this request" in read(desk.get(path_of(prepared)))


def test_who_may_not_see_documents_is_told_why_and_can_only_reject_unseen(desk, prepared):
    withdraw(prepared.user, Permission.VIEW_DOCUMENT)
    answer, inbox, before = desk.get(path_of(prepared)), desk.get("/approvals"), take_snapshot()

    assert answer.status_code == 200
    assert "but your account no longer has the permission to see documents" in read(answer)
    for shown in (answer, inbox):
        for fact in ("Acme", "119.00", "Consulting", prepared.document.draft_code):
            assert fact not in shown.content.decode()
    assert "Approve" not in read(answer)
    refused = send(desk, prepared, "approve")
    assert refused.status_code == 403
    assert "Nothing was decided just now." in read(refused)
    assert "no longer has the permission to see documents" in read(refused)
    assert take_snapshot() == before

    assert send(desk, prepared, "reject", reason="Not mine.").status_code == 302
    assert decision_of(prepared) == Decision.REJECTED


def test_out_of_scope_a_request_that_is_over_offers_nothing(desk, prepared, clock):
    withdraw(prepared.user, Permission.VIEW_ALL_CUSTOMERS)
    clock.move_to(TEN_MINUTES_LATER, tick=False)
    with nothing_changes():
        answer = send(desk, prepared, "reject")

    assert answer.status_code == 409
    assert "Nothing was decided just now." in read(answer)
    assert "There is nothing left for you to decide." in read(answer)
    assert "you can reject" not in answer.content.decode()
    assert "<button" not in answer.content.decode().split("<main")[1]


def test_out_of_scope_another_persons_request_stays_hidden(sign_in, stranger, prepared):
    before = take_snapshot()
    browser = sign_in(stranger)
    for answer in (browser.get(path_of(prepared)), send(browser, prepared, "reject")):
        assert answer.status_code == 404
    assert (
        take_snapshot()["agent_approvals.ApprovalRequest"]
        == before["agent_approvals.ApprovalRequest"]
    )


def test_another_sites_form_decides_nothing(desk, prepared):
    desk.handler.enforce_csrf_checks = True
    answer = send(desk, prepared, "approve")

    assert answer.status_code == 403
    assert decision_of(prepared) == ""
