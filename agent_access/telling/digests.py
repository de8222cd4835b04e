"""A mail once a day about what waits for a person and what they missed, if there is anything."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from uuid_utils.compat import uuid7

from agent_access import waiting
from agent_access.telling.models import Delivery, Fate, Notification, Preferences
from agent_access.telling.outbox import MAIL
from agent_access.telling.preferences import is_quiet, local_time, mail_address, tell_each
from agent_access.waiting import Told

SUBJECT = "digest"
# By the clock where the person is. A worker that was away makes up for it on the same day.
FIRST_HOUR, LAST_HOUR = 8, 20
PERIOD = timedelta(days=1)
LIFETIME = timedelta(hours=6)


class Digests:
    """The subject of digests, which says what is true when one is sent."""

    def tell(self, pk: UUID, person: Any, *, now: datetime) -> Told | None:
        tallies = [count(person, now - PERIOD) for count in waiting.tallies]
        waits = sum(each.waiting for each in tallies)
        missed = sum(each.missed for each in tallies)
        if not (waits or missed):
            return None
        sentences = (
            _("Waiting for your decision now: %(count)d.") % {"count": waits},
            _("Expired in the last 24 hours before you decided: %(count)d.") % {"count": missed},
        )
        return Told(
            title=_("What agents asked you"),
            sentence="\n".join(sentences),
            details="",
            path=reverse("agent_approvals:inbox"),
            expires_at=now + LIFETIME,
        )

    def find_pending(self, person: Any, *, now: datetime) -> Iterable[Told]:
        return ()


def wants_digest(chosen: Preferences) -> bool:
    return bool(chosen.wants_digest and mail_address(chosen.person))


def write_digests(*, now: datetime) -> None:
    """Write, once a day, one for each person who wants it and whose hour has come.

    In quiet hours it is put off, to later on the same day.
    """
    wanting = Preferences.objects.filter(wants_digest=True).select_related("person")
    tell_each(wanting, partial(_write_in_time, now=now))


def _write_in_time(chosen: Preferences, *, now: datetime) -> None:
    clock = local_time(chosen.person, now=now)
    is_time = FIRST_HOUR <= clock.hour < LAST_HOUR and not is_quiet(chosen, now=now)
    if is_time and wants_digest(chosen):
        _write(chosen, now=now, today=clock.date())


@transaction.atomic
def _write(chosen: Preferences, *, now: datetime, today: date) -> None:
    others = Preferences.objects.filter(pk=chosen.pk).exclude(digested_on=today)
    if not others.update(digested_on=today):  # another worker was faster
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
