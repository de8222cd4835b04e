"""The weekly mail with the heads of the audit: once, to owners who want it, and it proves."""

from datetime import UTC, date, datetime, time, timedelta
from io import StringIO
from smtplib import SMTPServerDisconnected
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.core import mail
from django.core.management import call_command
from django.utils import timezone

from agent_access.models import ADMINISTRATION, AuditEvent, ChainHead
from agent_access.telling import heads
from agent_access.telling.heads import choose_heads, write_mails
from agent_access.telling.models import Delivery, Notification, Outcome, Preferences
from agent_access.telling.preferences import read_preferences, save_preferences
from agent_access.verification import read_heads, write_heads
from invoicing.administration.ownership import transfer_ownership_as_operator
from tests.agent_access.tampering import run_sql
from tests.threads import run_together
from tests.web.forms import main_of

# By the clock of Berlin, where the owner is.
MONDAY = datetime(2026, 11, 30, 8, tzinfo=UTC)
HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)
CHOICE = "Send me the heads of the audit by mail each week"
CHOICES = "/account/notifications/choices"


@pytest.fixture
def mail_on(settings) -> None:
    settings.AGENT_ACCESS |= {"MAIL_FROM": "Invoices <invoices@company.example>"}


@pytest.fixture
def heads_on(mail_on, time_machine, owner) -> None:
    """On a Monday at nine in the morning; the owner wants the heads, and no other mail."""
    owner.time_zone = "Europe/Berlin"
    owner.save()
    time_machine.move_to(MONDAY, tick=False)
    choose_heads(owner, is_wanted=True)


def attached():
    """Return the file that the only mail brings along."""
    [sent] = mail.outbox
    [(name, text, kind)] = sent.attachments
    assert (name, kind) == ("heads.txt", "text/plain")
    return text


def test_the_heads_are_mailed_on_monday_once_a_week(owner, heads_on, deliver, time_machine):
    for moment in (MONDAY, MONDAY + HOUR, MONDAY + 6 * DAY):
        time_machine.move_to(moment, tick=False)
        deliver()
    [sent] = mail.outbox
    assert (sent.subject, sent.to) == ("The heads of the audit", [owner.email])
    assert sent.body == (
        "Chains of the audit: 1. Attached are the heads of 1.\n"
        "Keep this mail where whoever operates the service cannot change it. The command"
        " verify_audit --expect heads.txt says whether the audit still agrees with it.\n\n"
        "https://invoices.example/account\n"
    )
    assert attached() == write_heads(read_heads())
    assert Preferences.objects.get().heads_week == date(2026, 11, 30)
    time_machine.move_to(MONDAY + WEEK - 2 * HOUR, tick=False)
    deliver()  # at seven on the next Monday
    assert len(mail.outbox) == 1
    time_machine.move_to(MONDAY + WEEK - HOUR, tick=False)
    deliver()
    assert len(mail.outbox) == 2


def test_a_worker_that_was_away_on_monday_makes_up_for_it(heads_on, deliver, time_machine):
    time_machine.move_to(MONDAY + 5 * DAY, tick=False)
    deliver()
    assert len(mail.outbox) == 1
    assert Preferences.objects.get().heads_week == date(2026, 11, 30)


def test_in_quiet_hours_the_heads_wait(owner, heads_on, deliver, time_machine):
    save_preferences(
        owner, by_mail=False, shows_details=False, quiet_from=time(22), quiet_until=time(10)
    )
    deliver()
    assert mail.outbox == []
    time_machine.move_to(MONDAY + HOUR, tick=False)
    deliver()
    assert len(mail.outbox) == 1


def test_the_audit_is_compared_with_the_attached_file(
    owner, heads_on, deliver, agent, connection, tmp_path
):
    agent.call("tools.list")
    deliver()
    file = tmp_path / "heads.txt"
    parts: list[Any] = [*mail.outbox[0].message().walk()]
    file.write_bytes(parts[-1].get_payload(decode=True))
    agent.call("tools.list")
    call_command("verify_audit", "--expect", str(file), stdout=StringIO())
    # Two calls are forgotten, and their chain is as good as new.
    run_sql("DELETE FROM agent_access_auditevent WHERE action = 'tools.list'")
    run_sql(
        "UPDATE agent_access_chainhead SET sequence = 0, digest = '' WHERE is_open AND"
        " chain <> 'administration'"
    )
    call_command("verify_audit", stdout=StringIO())
    errors = StringIO()
    with pytest.raises(SystemExit):
        call_command("verify_audit", "--expect", str(file), stderr=errors, no_color=True)
    assert errors.getvalue() == f"{connection.id} 1: an event is missing here\n"


def test_of_many_chains_the_mail_has_those_that_were_used_last(heads_on, deliver, monkeypatch):
    monkeypatch.setattr(heads, "MOST_CHAINS", 3)
    used = [None, MONDAY - DAY, MONDAY - HOUR, MONDAY - WEEK]
    names = [str(uuid4()) for _ in used]
    ChainHead.objects.bulk_create(
        ChainHead(chain=name, last_used_at=at) for name, at in zip(names, used, strict=True)
    )
    deliver()
    told = [line.split(" ")[0] for line in attached().splitlines()]
    assert told == sorted([names[1], names[2], ADMINISTRATION])
    assert mail.outbox[0].body.startswith("Chains of the audit: 5. Attached are the heads of 3.\n")


def test_a_full_mail_has_at_most_200_kilobytes():
    longest = f"{uuid4()} {2**63 - 1} {'f' * 64}\n"
    assert len(longest) * heads.MOST_CHAINS < 200_000


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_write_one_mail(heads_on):
    run_together([lambda: write_mails(now=MONDAY)] * 2)
    assert Delivery.objects.count() == 1


def test_a_mail_that_could_not_be_sent_is_tried_again(heads_on, deliver, monkeypatch):
    monkeypatch.setattr(mail.EmailMessage, "send", Mock(side_effect=SMTPServerDisconnected()))
    deliver()
    monkeypatch.undo()
    assert (Delivery.objects.get().outcome, mail.outbox) == ("", [])
    Delivery.objects.update(next_attempt_at=timezone.now())
    deliver()
    assert Delivery.objects.get().outcome == Outcome.SENT
    assert attached() == write_heads(read_heads())


def test_who_owns_no_more_gets_no_heads(owner, colleague, heads_on, deliver):
    write_mails(now=MONDAY)
    transfer_ownership_as_operator(colleague.pk)
    deliver()
    assert Delivery.objects.get().outcome == Outcome.UNWANTED
    Preferences.objects.update(heads_week=None)
    deliver()
    assert (Notification.objects.count(), mail.outbox) == (1, [])


def test_who_chose_otherwise_meanwhile_gets_none(owner, heads_on, deliver):
    write_mails(now=MONDAY)
    choose_heads(owner, is_wanted=False)
    deliver()
    assert Delivery.objects.get().outcome == Outcome.UNWANTED
    assert mail.outbox == []


def test_the_owner_chooses_and_each_change_is_in_the_audit(sign_in, owner, mail_on):
    desk = sign_in(owner)
    assert CHOICE in main_of(desk.get("/account"))
    for sent in ({"wants_heads": "on"}, {"wants_heads": "on", "by_mail": "on"}, {}):
        assert desk.post(CHOICES, sent).status_code == 302
        assert read_preferences(owner).wants_heads == ("wants_heads" in sent)
    acts = AuditEvent.objects.filter(action__startswith="heads_mail:").order_by("sequence")
    assert [(each.action, each.actor_id, each.transport) for each in acts] == [
        ("heads_mail:turned_on", owner.pk, "web"),
        ("heads_mail:turned_off", owner.pk, "web"),
    ]


def test_a_choice_that_is_refused_otherwise_is_not_kept(sign_in, owner, mail_on):
    half = {"wants_heads": "on", "quiet_from": "22:00"}
    events = AuditEvent.objects.count()
    assert sign_in(owner).post(CHOICES, half).status_code == 422
    assert not read_preferences(owner).wants_heads
    assert AuditEvent.objects.count() == events


def test_nobody_else_is_offered_the_heads_or_gets_them(sign_in, delegate, mail_on, deliver):
    desk = sign_in(delegate)
    assert CHOICE not in main_of(desk.get("/account"))
    events = AuditEvent.objects.count()
    assert desk.post(CHOICES, {"wants_heads": "on"}).status_code == 302
    assert not read_preferences(delegate).wants_heads
    assert AuditEvent.objects.count() == events
    Preferences.objects.update(wants_heads=True)  # as of an owner of before
    deliver()
    assert mail.outbox == []


def test_where_no_mail_can_be_sent_the_heads_are_no_choice(sign_in, owner, settings):
    settings.AGENT_ACCESS |= {"WEB_PUSH_KEY": "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA"}
    assert CHOICE not in main_of(sign_in(owner).get("/account"))
