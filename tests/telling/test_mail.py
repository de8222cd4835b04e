"""What is told by mail, and the test that a person starts."""

import socket
from datetime import timedelta
from smtplib import SMTPDataError, SMTPRecipientsRefused
from unittest.mock import Mock

import pytest
from django.core import mail
from django.core.mail import BadHeaderError
from django.utils import timezone

from agent_access.telling import sending
from agent_access.telling.models import Delivery, Device, Outcome
from agent_access.telling.preferences import save_preferences
from agent_access.telling.trying import send_test
from tests.telling.push_service import reply_with, run_push_service
from tests.telling.questions import ask

SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.fixture
def by_mail(settings, delegate) -> None:
    settings.AGENT_ACCESS |= {"MAIL_FROM": "Invoices <invoices@company.example>"}
    save_preferences(delegate, by_mail=True, shows_details=False)


def test_a_mail_is_plain_text_with_one_link(delegate, by_mail, deliver, riddles):
    pk = ask(delegate)
    deliver()
    deliver()
    [sent] = mail.outbox
    assert (sent.subject, sent.from_email, sent.to) == (
        "A riddle",
        "Invoices <invoices@company.example>",
        [delegate.email],
    )
    assert sent.body == f"Solve it by UTC.\n\nhttps://invoices.example/riddles/{pk}\n"
    assert sent.content_subtype == "plain"
    key = Delivery.objects.get().pk
    assert sent.extra_headers == {
        "Message-ID": f"<{key}@invoices.example>",
        "Auto-Submitted": "auto-generated",
    }


def test_nobody_gets_mail_who_does_not_want_it_any_more(delegate, by_mail, deliver, riddles):
    ask(delegate)
    save_preferences(delegate, by_mail=False, shows_details=False)
    deliver()
    assert mail.outbox == []


@pytest.mark.usefixtures("by_mail", "riddles")
def test_a_mail_server_that_hangs_or_is_down_is_asked_again_later(
    delegate, deliver, settings, monkeypatch
):
    monkeypatch.setattr(sending, "MAIL_SECONDS", 0.2)
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = SMTP, "127.0.0.1"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.EMAIL_PORT = silent.getsockname()[1]
        ask(delegate)
        deliver()
    assert Delivery.objects.get().outcome == ""
    Delivery.objects.update(next_attempt_at=timezone.now())
    deliver()
    delivery = Delivery.objects.get()
    assert (delivery.outcome, delivery.attempts) == ("", 2)
    assert delivery.next_attempt_at > timezone.now()


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (SMTPRecipientsRefused({"": (550, b"unknown")}), Outcome.REFUSED),
        (SMTPRecipientsRefused({"": (450, b"busy")}), ""),
        (SMTPDataError(554, b"unwanted"), Outcome.REFUSED),
        (SMTPDataError(451, b"later"), ""),
        (BadHeaderError(), Outcome.REFUSED),
    ],
)
@pytest.mark.usefixtures("by_mail", "riddles")
def test_only_what_may_be_taken_later_is_tried_again(
    delegate, deliver, monkeypatch, error, outcome
):
    monkeypatch.setattr(mail.EmailMessage, "send", Mock(side_effect=error))
    ask(delegate)
    deliver()
    assert Delivery.objects.get().outcome == outcome


@pytest.mark.usefixtures("by_mail")
def test_a_test_says_of_each_way_what_happened(
    delegate, subscribe, browser, push_service, push_authority, time_machine
):
    with run_push_service(push_authority, host="old.example") as old:
        old.reply = reply_with("410 Gone")
        subscribe(delegate, service=old, name="Old phone")
        said = send_test(delegate)
    assert said == [
        "Firefox: sent. If nothing appears, look at the settings of that browser.",
        "Old phone: it does not take notifications any more, and was removed.",
        "Mail: sent. If none arrives, look among unwanted mail.",
    ]
    assert [each["title"] for each in browser.read()] == ["A test"]
    assert mail.outbox[0].body == "You will be told here.\n\nhttps://invoices.example/\n"
    assert [each.name for each in Device.objects.all()] == ["Firefox"]
    assert send_test(delegate) == ["Wait half a minute before the next test."]
    push_service.reply = reply_with("500 Broken")
    time_machine.move_to(timezone.now() + timedelta(seconds=31))
    assert send_test(delegate)[0] == "Firefox: its push service could not be reached."


def test_without_a_way_there_is_nothing_to_test(delegate, push_on, by_mail):
    delegate.email = ""
    delegate.save()
    assert send_test(delegate) == ["There is nothing to test: add this browser, or choose mail."]


class RejectedByApiError(Exception):
    """An error as the backends of HTTP APIs have: neither of SMTP nor of the network."""


@pytest.mark.usefixtures("by_mail")
def test_a_test_that_a_mail_backend_fails_in_its_own_way_is_told_and_logged_without_addresses(
    delegate, monkeypatch, caplog
):
    error = RejectedByApiError(f"{delegate.email} is not accepted")
    monkeypatch.setattr(mail.EmailMessage, "send", Mock(side_effect=error))
    assert send_test(delegate) == ["Mail: the mail server could not be reached."]
    assert caplog.messages == ["A test could not be sent: RejectedByApiError."]
