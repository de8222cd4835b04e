"""The worker among services that hang, lie or refuse, beside another one, and when it is killed."""

import ssl
import threading
from datetime import time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import OperationalError
from django.db import connection as database
from django.utils import timezone

from agent_access import conf
from agent_access.telling import outbox, worker
from agent_access.telling.messages import digest_tag
from agent_access.telling.models import Delivery, Device, Notification, Outcome, Problem
from agent_access.telling.preferences import mute, save_preferences, unmute
from agent_access.telling.worker import Worker
from agent_access.testing import flush_past_triggers
from tests.factories import UserFactory
from tests.telling.push_service import reply_with, run_push_service
from tests.telling.questions import ask
from tests.threads import run_together


def make_all_due() -> None:
    """Let every lease and every pause between attempts be over."""
    Delivery.objects.filter(ended_at=None).update(next_attempt_at=timezone.now())


def titles(browser) -> list[str]:
    return [each["title"] for each in browser.read()]


def test_of_sixty_requests_in_ten_minutes_three_are_told_and_one_summary(
    connection, delegate, browser, deliver, riddles, time_machine
):
    began = timezone.now()
    for second in range(60):
        time_machine.move_to(began + timedelta(seconds=second))
        ask(delegate, connection_id=connection.id)
        deliver()
    assert titles(browser) == ["A riddle"] * 3 + ["Test agent asks often"]
    [summary] = browser.read()[3:]
    assert summary["body"] == "Open your inbox: you are not told of each of its requests."
    assert (summary["path"], summary["tag"]) == (
        "/approvals",
        digest_tag(f"often:{connection.id}"),
    )
    # Another connection is told of, and this one again once the window is over.
    ask(delegate, tag="another")
    time_machine.move_to(began + timedelta(minutes=10, seconds=30))
    ask(delegate, connection_id=connection.id)
    deliver()
    assert titles(browser)[4:] == ["A riddle"] * 2


def test_a_summary_is_not_sent_if_nothing_is_left_to_decide(
    connection, delegate, browser, deliver, riddles
):
    riddles.over |= {ask(delegate, connection_id=connection.id) for _ in range(60)}
    deliver()
    assert browser.read() == []


def test_a_summary_that_was_not_sent_stands_for_nothing_that_comes_later(
    connection, delegate, browser, deliver, riddles
):
    riddles.over |= {ask(delegate, connection_id=connection.id) for _ in range(4)}
    deliver()
    for _ in range(2):
        ask(delegate, connection_id=connection.id)
        deliver()
    assert titles(browser) == ["Test agent asks often"]


@pytest.mark.parametrize("later_tags", ["dfg", "dfgh"], ids=["alone", "with another summary"])
def test_what_a_summary_stands_for_is_told_once_services_are_back(
    connection, browser, push_service, deliver, riddles, time_machine, *, later_tags
):
    delegate = connection.user
    began, answers = timezone.now(), push_service.reply
    push_service.reply = reply_with("503 Unavailable")
    for tag in "abcd":  # the last one gets a summary
        ask(delegate, connection_id=connection.id, tag=tag)
    deliver()
    time_machine.move_to(began + timedelta(minutes=9))
    covered = ask(delegate, connection_id=connection.id, tag="e")
    deliver()
    time_machine.move_to(began + timedelta(minutes=10, seconds=1))
    later = [ask(delegate, connection_id=connection.id, tag=tag) for tag in later_tags]
    deliver()
    riddles.over |= set(later)

    push_service.requests.clear()
    push_service.reply = answers
    make_all_due()
    deliver()
    assert titles(browser) == ["Test agent asks often"]
    expires_at = Notification.objects.get(record_id=covered).expires_at
    assert browser.read()[0]["expires_at"] == expires_at.isoformat()
    assert int(push_service.received()[0]["ttl"]) > 0


def test_of_a_muted_connection_nothing_is_told(connection, delegate, browser, deliver, riddles):
    mute(delegate, connection.id)
    ask(delegate, connection_id=connection.id)
    deliver()
    assert browser.read() == []
    unmute(delegate, connection.id)
    ask(delegate, connection_id=connection.id)
    deliver()
    assert titles(browser) == ["A riddle"]


def test_every_device_of_the_person_is_told_and_nobody_elses(
    subscribe, delegate, colleague, deliver, riddles
):
    mine, also_mine, theirs = (subscribe(each) for each in (delegate, delegate, colleague))
    ask(delegate)
    deliver()
    assert [len(each.read()) for each in (mine, also_mine, theirs)] == [1, 1, 0]


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone"])
def test_a_device_that_has_left_is_forgotten(
    delegate, browser, push_service, deliver, riddles, status
):
    push_service.reply = reply_with(status)
    ask(delegate)
    deliver()
    assert len(push_service.requests) == 1
    assert not Device.objects.exists()
    assert not Delivery.objects.exists()


@pytest.mark.parametrize(
    "status", ["403 Forbidden", "302 Found\r\nLocation: https://push.example/elsewhere"]
)
def test_what_is_refused_is_not_sent_again(
    delegate, browser, push_service, deliver, riddles, status
):
    push_service.reply = reply_with(status)
    ask(delegate)
    deliver()
    make_all_due()
    deliver()
    assert len(push_service.requests) == 1
    assert Delivery.objects.get().outcome == Outcome.REFUSED
    assert Device.objects.get().problem == Problem.REFUSED


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Unavailable", "\r\nno HTTP"])
def test_a_service_that_fails_is_asked_again_later_and_only_what_is_live_then_is_told(
    delegate, browser, push_service, deliver, riddles, status
):
    answers = push_service.reply
    push_service.reply = reply_with(status)
    kept, gone = ask(delegate), ask(delegate)
    deliver()
    assert Device.objects.get().problem == Problem.UNREACHABLE
    deliver()
    assert len(push_service.requests) == 2  # not before the pause is over
    pauses = [each.next_attempt_at - timezone.now() for each in Delivery.objects.all()]
    assert all(timedelta() < pause < timedelta(seconds=2) for pause in pauses)

    riddles.over.add(gone)
    push_service.reply = answers
    make_all_due()
    deliver()
    assert [each["path"] for each in browser.read()[2:]] == [f"/riddles/{kept}"]
    told = Delivery.objects.order_by("pk").values_list("outcome", "attempts")
    assert list(told) == [(Outcome.SENT, 2), (Outcome.OVER, 2)]
    assert Device.objects.get().problem == ""


@pytest.mark.django_db(transaction=True)
def test_a_service_that_hangs_holds_up_no_other(
    delegate, colleague, push_authority, push_service, subscribe, riddles
):
    ended, arrived, hanging = threading.Event(), threading.Event(), threading.Semaphore(0)

    def hang(stream: ssl.SSLSocket) -> None:
        hanging.release()
        ended.wait(10)

    def note_arrival(stream: ssl.SSLSocket) -> None:
        arrived.set()
        reply_with("201 Created")(stream)

    push_service.reply = note_arrival
    stopped = threading.Event()
    with run_push_service(push_authority, host="slow.example") as slow:
        slow.reply = hang
        subscribe(delegate, service=slow)
        subscribe(colleague)
        for _ in range(30):
            ask(delegate)
        ask(colleague)
        thread = threading.Thread(target=Worker().run, args=(stopped,))
        thread.start()
        try:
            assert arrived.wait(3)
            assert all(hanging.acquire(timeout=3) for _ in range(worker.MOST_PER_SERVICE))
            assert len(slow.requests) == worker.MOST_PER_SERVICE
        finally:
            ended.set()
            stopped.set()
            thread.join(20)


def test_a_private_address_is_never_called(
    delegate, browser, push_service, deliver, riddles, settings
):
    settings.AGENT_ACCESS |= {"REACHES_LOOPBACK": False}
    ask(delegate)
    deliver()
    assert push_service.requests == []
    assert Device.objects.get().problem == Problem.UNREACHABLE


@pytest.mark.django_db(transaction=True)
def test_of_two_workers_one_sends(delegate, browser, deliver, riddles):
    asked = {ask(delegate) for _ in range(12)}
    run_together([deliver, deliver])
    deliver()
    told = [each["path"] for each in browser.read()]
    assert sorted(told) == sorted(f"/riddles/{pk}" for pk in asked)


class KilledError(BaseException):
    """The process died: nothing after this moment happens in it."""


class Killer:
    """Dies after so many statements, as a process does whose database ends its transaction."""

    def __init__(self, moment: int) -> None:
        self.left = moment

    def __call__(self, execute, sql, params, many, context) -> Any:
        result = execute(sql, params, many, context)
        self.left -= 1
        if self.left < 0:
            raise KilledError
        return result


@pytest.mark.django_db(transaction=True)
def test_killed_at_any_statement_it_tells_once_and_forgets_nothing(
    delegate, browser, push_service, deliver, riddles
):
    """What was sent and not marked yet is sent again, with the same tag: nobody can know better."""
    moment, lived = 0, False
    while not lived:
        before = len(browser.read())
        pk, working = ask(delegate), Worker()
        try:
            with database.execute_wrapper(Killer(moment)):
                deliver(working)
            lived = True
        except KilledError:
            database.close()
            if working._sendings.keys() - working._unmarked.keys():
                working._collect(10)
        is_marked = Delivery.objects.filter(notification__record_id=pk, outcome=Outcome.SENT)
        is_unmarked = len(browser.read()) > before and not is_marked.exists()
        make_all_due()
        deliver()
        told = browser.read()[before:]
        assert {each["path"] for each in told} == {f"/riddles/{pk}"}, moment
        assert len(told) == 1 + is_unmarked, moment
        assert Delivery.objects.get(notification__record_id=pk).outcome == Outcome.SENT
        moment += 1
    assert moment > 10


def test_a_delivery_that_another_worker_has_claimed_is_left_to_it(
    delegate, browser, deliver, riddles
):
    ask(delegate)
    outbox.settle_all(now=timezone.now())
    delivery = Delivery.objects.get()
    assert worker.claim(Delivery.objects.get(), now=timezone.now())
    assert not worker.claim(delivery, now=timezone.now())
    deliver()
    assert browser.read() == []


def test_what_takes_longer_than_its_lease_is_renewed(delegate, push_service, browser, riddles):
    going_on = threading.Event()

    def hang(stream: ssl.SSLSocket) -> None:
        going_on.wait(10)
        reply_with("201 Created")(stream)

    push_service.reply = hang
    ask(delegate)
    working = Worker()
    working.work()
    [before] = Delivery.objects.values_list("next_attempt_at", flat=True)
    working._renew(before - timedelta(seconds=1))
    [after] = Delivery.objects.values_list("next_attempt_at", flat=True)
    assert after - before == worker.LEASE - timedelta(seconds=1)
    going_on.set()
    working._collect(10)
    working.work()
    assert Delivery.objects.get().outcome == Outcome.SENT


def test_a_subject_that_fails_stops_nothing_else(
    delegate, browser, deliver, riddles, monkeypatch, caplog
):
    bad, good = ask(delegate), ask(delegate)
    tell = riddles.tell

    def fail(pk, person, *, now) -> Any:
        if pk == bad:
            raise ZeroDivisionError
        return tell(pk, person, now=now)

    monkeypatch.setattr(riddles, "tell", fail)
    deliver()
    assert [each["path"] for each in browser.read()] == [f"/riddles/{good}"]
    assert "A notification cannot be written; it is tried again." in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_person_who_is_deleted_while_they_are_told_stops_nothing_else(
    delegate, browser, subscribe, riddles
):
    gone, working = UserFactory.create(), Worker()
    subscribe(gone)
    ask(gone)
    working.work()
    working._collect(10)
    with flush_past_triggers():
        gone.delete()
    ask(delegate)
    working.work()
    working._collect(10)
    working.work()
    assert titles(browser) == ["A riddle"]
    assert Delivery.objects.get().outcome == Outcome.SENT
    assert working._sendings == {}


def test_where_the_zone_of_a_person_cannot_be_read_the_others_are_told(
    delegate, colleague, browser, riddles, monkeypatch, caplog
):
    save_preferences(
        colleague, by_mail=False, shows_details=False, quiet_from=time(1), quiet_until=time(2)
    )
    monkeypatch.setattr(type(conf.policy()), "time_zone", lambda *_: ZoneInfo("Mars/Olympus"))
    ask(colleague)
    ask(delegate)
    outbox.settle_all(now=timezone.now())
    assert not Notification.objects.filter(settled_at=None).exists()
    assert "The time zone of a person cannot be read, and UTC is taken." in caplog.text


@pytest.mark.parametrize("is_failing", [False, True])
def test_a_connection_to_the_database_is_given_up_only_after_a_failure(is_failing, monkeypatch):
    closed = []
    monkeypatch.setattr(worker, "close_old_connections", lambda: closed.append(1))

    def act() -> None:
        if is_failing:
            raise OperationalError

    Worker()._try(act)
    assert len(closed) == is_failing


def test_a_day_after_it_was_over_nothing_is_kept(delegate, browser, deliver, riddles, time_machine):
    ask(delegate)
    deliver()
    now = timezone.now()
    time_machine.move_to(now + timedelta(days=1, minutes=9))
    outbox.forget_old(now=timezone.now())
    assert Notification.objects.count() == 1
    time_machine.move_to(now + timedelta(days=1, minutes=11))
    outbox.forget_old(now=timezone.now())
    assert Notification.objects.count() == Delivery.objects.count() == 0
