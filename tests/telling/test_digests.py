"""The mail of each morning: what waits and what expired, once a day, to people who want it."""

from datetime import time, timedelta

import pytest
from django.core import mail

from agent_access.telling import digests
from agent_access.telling.digests import write_digests
from agent_access.telling.models import Delivery, Outcome, Preferences
from agent_access.telling.preferences import save_preferences
from tests.approvals import A_MINUTE_LATER, PREPARED_AT, prepare
from tests.factories import UserFactory, withdraw

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def digest_on(settings, time_machine, delegate) -> None:
    """At nine in the morning; the delegate wants a digest, and no other mail."""
    settings.AGENT_ACCESS |= {"MAIL_FROM": "Invoices <invoices@company.example>"}
    time_machine.move_to(A_MINUTE_LATER, tick=False)
    save_preferences(delegate, by_mail=False, shows_details=False, wants_digest=True)


def test_a_digest_says_once_what_waits_and_what_expired(
    delegate, draft, digest_on, deliver, time_machine
):
    prepare(draft, user=delegate)
    for ago in (HOUR, 5 * HOUR, 2 * DAY):
        prepare(draft, user=delegate, now=PREPARED_AT - ago)
    deliver()
    deliver()
    [sent] = mail.outbox
    assert (sent.subject, sent.to) == ("What agents asked you", [delegate.email])
    assert sent.body == (
        "Waiting for your decision now: 1.\n"
        "Expired in the last 24 hours before you decided: 2.\n\n"
        "https://invoices.example/approvals\n"
    )
    time_machine.move_to(A_MINUTE_LATER + DAY - HOUR, tick=False)
    deliver()
    assert len(mail.outbox) == 2  # the one that waited has expired since
    time_machine.move_to(A_MINUTE_LATER + 2 * DAY, tick=False)
    deliver()
    assert len(mail.outbox) == 2  # nothing waits, and nothing expired


def test_a_person_of_whom_the_project_fails_stops_no_digest_of_others(
    delegate, draft, digest_on, deliver, monkeypatch, caplog
):
    colleague = UserFactory.create()
    save_preferences(colleague, by_mail=False, shows_details=False, wants_digest=True)
    prepare(draft, user=delegate)
    wants = digests.wants_digest

    def fail(chosen) -> bool:
        if chosen.person == colleague:
            raise ZeroDivisionError
        return wants(chosen)

    monkeypatch.setattr(digests, "wants_digest", fail)
    deliver()
    assert [each.to for each in mail.outbox] == [[delegate.email]]
    assert "A person cannot be told; it is tried again." in caplog.text


@pytest.mark.parametrize("hour", [7, 20])
def test_no_digest_is_sent_at_night(delegate, draft, digest_on, deliver, time_machine, hour):
    time_machine.move_to(PREPARED_AT.replace(hour=hour), tick=False)
    prepare(draft, user=delegate, now=PREPARED_AT.replace(hour=hour) - HOUR)
    deliver()
    assert mail.outbox == []
    assert Preferences.objects.get().digested_on is None


def test_a_digest_waits_until_quiet_hours_are_over(
    delegate, draft, digest_on, deliver, time_machine
):
    save_preferences(
        delegate,
        by_mail=False,
        shows_details=False,
        wants_digest=True,
        quiet_from=time(22),
        quiet_until=time(10),
    )
    prepare(draft, user=delegate, now=PREPARED_AT - HOUR)
    deliver()
    assert mail.outbox == []
    time_machine.move_to(A_MINUTE_LATER + HOUR, tick=False)
    deliver()
    assert len(mail.outbox) == 1


def test_nobody_gets_a_digest_who_does_not_want_it_any_more(delegate, draft, digest_on, deliver):
    prepare(draft, user=delegate, now=PREPARED_AT - HOUR)
    write_digests(now=A_MINUTE_LATER)
    save_preferences(delegate, by_mail=True, shows_details=False)
    deliver()
    assert mail.outbox == []
    assert Delivery.objects.get().outcome == Outcome.UNWANTED


def test_a_digest_counts_nothing_that_the_person_may_not_see(delegate, draft, digest_on, deliver):
    prepare(draft, user=delegate)
    prepare(draft, user=delegate, now=PREPARED_AT - HOUR)
    withdraw(delegate, "view_document")
    deliver()
    assert mail.outbox == []
    assert Delivery.objects.get().outcome == Outcome.OVER
