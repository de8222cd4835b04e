"""Who is told that a request waits: in time, once, and only what they may see."""

import json
import threading
from datetime import time, timedelta
from time import monotonic

import pytest
from django.utils import timezone
from py_vapid import Vapid02

from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.connections import revoke_connection
from agent_access.models import RevokedReason
from agent_access.telling.messages import digest_tag
from agent_access.telling.models import Notification
from agent_access.telling.preferences import save_preferences
from agent_access.telling.sending import public_key
from agent_access.telling.worker import Worker
from agent_access.waiting import shorten_name
from invoicing.models import Customer
from tests.interface.issuing import decide, prepare


@pytest.fixture
def draft_id(agent, draft_body) -> str:
    return str(agent.call("drafts.create", draft_body, key="draft").data["id"])


def expected_message(approval: ApprovalRequest, body: str = "") -> dict[str, str]:
    until = f"{approval.expires_at:%H:%M:%S} UTC"
    return {
        "title": "Test agent asks you to decide",
        "body": f"Issue a draft invoice: until {until}{body}",
        "path": f"/approvals/{approval.pk}",
        "tag": digest_tag(f"{approval.connection_id}:{approval.target}"),
        "expires_at": approval.expires_at.isoformat(),
    }


@pytest.mark.django_db(transaction=True)
def test_a_push_arrives_within_two_seconds_of_prepare(agent, draft_id, browser, push_service):
    arrived, stopped = threading.Event(), threading.Event()
    answer = push_service.reply

    def note_arrival(stream) -> None:
        arrived.set()
        answer(stream)

    push_service.reply = note_arrival
    worker = threading.Thread(target=Worker().run, args=(stopped,))
    worker.start()
    try:
        began = monotonic()
        assert prepare(agent, draft_id).status == 202
        assert arrived.wait(10)
        took = monotonic() - began
    finally:
        stopped.set()
        worker.join(20)
    assert took < 2
    approval = ApprovalRequest.objects.get()
    assert browser.read() == [expected_message(approval)]
    [sent] = push_service.received()
    assert 590 < int(sent["ttl"]) <= 600
    assert sent["urgency"] == "high"
    assert sent["topic"] == digest_tag(f"{approval.connection_id}:{approval.target}")
    assert sent["content-encoding"] == "aes128gcm"
    assert Vapid02.verify(sent["authorization"])
    assert sent["authorization"].endswith(f"k={public_key()}")


def test_nothing_that_is_sent_names_customer_or_amount_unless_the_person_wants_it(
    agent, delegate, draft_id, browser, push_service, deliver
):
    prepare(agent, draft_id)
    deliver()
    [approval] = ApprovalRequest.objects.all()
    plain = browser.decrypt(push_service.requests[0].partition(b"\r\n\r\n")[2])
    assert json.loads(plain) == expected_message(approval)
    # As it is prepared: no text or figure of the draft.
    assert not any(word in plain for word in (b"Acme", b"16.86", b"Consulting", b"PO 7"))

    save_preferences(delegate, by_mail=False, shows_details=True)
    prepare(agent, draft_id, key="again")
    deliver()
    last = ApprovalRequest.objects.latest("pk")
    assert browser.read()[1:] == [expected_message(last, "\nAcme Ltd, €16.86")]


def test_a_repeated_call_tells_nothing_again(agent, draft_id, browser, deliver):
    for _ in range(2):
        assert prepare(agent, draft_id).status == 202
        deliver()
    assert Notification.objects.count() == len(browser.read()) == 1


def test_without_settings_nothing_is_noted(agent, draft_id):
    prepare(agent, draft_id)
    assert not Notification.objects.exists()


def reject(approval: ApprovalRequest) -> None:
    decide({"approval_id": approval.pk}, Decision.REJECTED)


def change_draft(approval: ApprovalRequest) -> None:
    Customer.objects.update(name="Another name")


def take_out_of_sight(approval: ApprovalRequest) -> None:
    approval.delegated_user.user_permissions.clear()


def end_connection(approval: ApprovalRequest) -> None:
    revoke_connection(approval.connection_id, reason=RevokedReason.OWNER_REVOKED)


def deactivate(approval: ApprovalRequest) -> None:
    approval.delegated_user.is_active = False
    approval.delegated_user.save()


@pytest.mark.parametrize(
    "happens", [reject, change_draft, take_out_of_sight, end_connection, deactivate]
)
def test_what_is_over_or_out_of_sight_when_it_is_sent_is_told_to_nobody(
    agent, draft_id, browser, push_service, deliver, happens
):
    prepare(agent, draft_id)
    happens(ApprovalRequest.objects.get())
    deliver()
    assert push_service.requests == []


def test_what_has_expired_is_told_to_nobody(agent, draft_id, browser, push_service, deliver):
    prepare(agent, draft_id)
    Notification.objects.update(expires_at=timezone.now())
    deliver()
    assert push_service.requests == []


def test_a_newer_request_of_the_same_record_takes_the_place_of_one_not_sent_yet(
    agent, draft_id, browser, deliver
):
    for key in ("one", "two"):
        prepare(agent, draft_id, key=key)
    deliver()
    assert browser.read() == [expected_message(ApprovalRequest.objects.latest("pk"))]


def test_times_are_those_of_the_person(agent, delegate, draft_id, browser, deliver):
    delegate.time_zone = "Asia/Tokyo"
    delegate.save()
    prepare(agent, draft_id)
    deliver()
    until = ApprovalRequest.objects.get().expires_at + timedelta(hours=9)
    assert browser.read()[0]["body"] == f"Issue a draft invoice: until {until:%H:%M:%S} JST"


def test_in_quiet_hours_by_the_persons_clock_nobody_is_told(
    agent, delegate, draft_id, browser, deliver, time_machine
):
    delegate.time_zone = "Asia/Tokyo"
    delegate.save()
    save_preferences(
        delegate,
        by_mail=False,
        shows_details=False,
        quiet_from=time(22),
        quiet_until=time(7),
    )
    now = timezone.now()
    time_machine.move_to(now.replace(hour=21, minute=59))  # 6:59 in Tokyo
    prepare(agent, draft_id)
    deliver()
    assert browser.read() == []
    time_machine.move_to(now.replace(hour=22, minute=0))
    prepare(agent, draft_id, key="later")
    deliver()
    assert len(browser.read()) == 1


def test_a_name_has_forty_characters_at_most_and_hides_none(
    connect, delegate, draft_body, browser, deliver
):
    _, agent = connect(delegate, name="Ledger " * 9)
    made = agent.call("drafts.create", draft_body, key="draft").data
    prepare(agent, made["id"])
    deliver()
    [told] = browser.read()
    assert told["title"] == f"{'Ledger ' * 5}Ledg… asks you to decide"
    assert shorten_name("Ledger\u202eagent") == "Ledger[U+202E]agent"
