"""A mail once a week with the heads of the audit, to people who may administer and want it.

In a mailbox they are out of reach of whoever can write to the database. The mail has the heads as
they are when it is sent, without a text of anybody.
"""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from uuid_utils.compat import uuid7

from agent_access.approvers import may_administer
from agent_access.audit import Actor, make_origin, record_act
from agent_access.models import ChainHead, Transport
from agent_access.telling.models import Delivery, Fate, Notification, Preferences
from agent_access.telling.outbox import MAIL
from agent_access.telling.preferences import (
    is_quiet,
    local_time,
    lock_preferences,
    mail_address,
    tell_each,
)
from agent_access.verification import read_latest_heads, write_heads
from agent_access.waiting import TextFile, Told

SUBJECT = "heads"
FILE_NAME = "heads.txt"
# Some 200 kB: a line has at most 122 characters.
MOST_CHAINS = 1600
# On Mondays, by the clock where the person is. A worker that was away makes up for it in that week.
FIRST_HOUR = 8
# A mail server may be down so long.
LIFETIME = timedelta(days=6)


class Heads:
    """The subject of the weekly mail."""

    def tell(self, pk: UUID, person: Any, *, now: datetime) -> Told | None:
        if not may_administer(person):
            return None
        heads, count = read_latest_heads(MOST_CHAINS), ChainHead.objects.count()
        sentences = (
            _("Chains of the audit: %(count)d. Attached are the heads of %(told)d.")
            % {"count": max(count, len(heads)), "told": len(heads)},
            _(
                "Keep this mail where whoever operates the service cannot change it. The command"
                " verify_audit --expect heads.txt says whether the audit still agrees with it."
            ),
        )
        return Told(
            title=_("The heads of the audit"),
            sentence="\n".join(sentences),
            details="",
            path=reverse("agent_telling:page"),
            expires_at=now + LIFETIME,
            file=TextFile(FILE_NAME, write_heads(heads)),
        )

    def find_pending(self, person: Any, *, now: datetime) -> Iterable[Told]:
        return ()


def may_want_heads(person: Any) -> bool:
    """Return whether the person is one to whom the heads can be sent."""
    return bool(mail_address(person) and may_administer(person))


def wants_heads(chosen: Preferences) -> bool:
    return chosen.wants_heads and may_want_heads(chosen.person)


@transaction.atomic
def choose_heads(person: Any, *, is_wanted: bool) -> None:
    """Keep whether the person wants the heads; a change is in the audit, since it weakens proof."""
    chosen = lock_preferences(person.pk)
    if chosen.wants_heads == is_wanted:
        return
    Preferences.objects.filter(pk=chosen.pk).update(wants_heads=is_wanted)
    by = Actor(make_origin(Transport.WEB), person.pk)
    record_act(f"heads_mail:turned_{'on' if is_wanted else 'off'}", by)


def write_mails(*, now: datetime) -> None:
    """Write, once a week, one for each person who wants it.

    In quiet hours it is put off, to later in the same week.
    """
    wanting = Preferences.objects.filter(wants_heads=True).select_related("person")
    tell_each(wanting, partial(_write_in_time, now=now))


def _write_in_time(chosen: Preferences, *, now: datetime) -> None:
    clock = local_time(chosen.person, now=now)
    is_time = clock.weekday() > 0 or clock.hour >= FIRST_HOUR
    if is_time and wants_heads(chosen) and not is_quiet(chosen, now=now):
        _write(chosen, now=now, week=clock.date() - timedelta(days=clock.weekday()))


@transaction.atomic
def _write(chosen: Preferences, *, now: datetime, week: date) -> None:
    others = Preferences.objects.filter(pk=chosen.pk).exclude(heads_week=week)
    if not others.update(heads_week=week):  # another worker was faster, or it is done
        return
    notification = Notification.objects.create(
        person_id=chosen.person_id,
        subject=SUBJECT,
        record_id=uuid7(),
        tag=SUBJECT,
        created_at=now,
        expires_at=now + LIFETIME,
        fate=Fate.TOLD,
        settled_at=now,
    )
    Delivery.objects.create(notification=notification, service=MAIL, next_attempt_at=now)
