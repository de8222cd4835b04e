"""What is to be told: noted with the question, and settled later, to whom and in which way."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from agent_access import conf
from agent_access.telling.models import (
    Delivery,
    Device,
    Fate,
    Notification,
    Outcome,
    Preferences,
)
from agent_access.telling.preferences import find_muted, is_quiet, lock_preferences
from agent_access.waiting import Question

# A connection tells so many in so long, and then once more that it asks often.
MOST_TOLD = 3
WINDOW = timedelta(minutes=10)
BATCH = 200
KEPT_AFTER_EXPIRY = timedelta(days=1)
MAIL = "mail"

# A device, or None for mail.
Way = Device | None


def note(sender: Any, question: Question, **kwargs: Any) -> None:
    """Write down, in the transaction of the question, that somebody is to hear of it.

    One row, since an agent waits for it; where nobody can be told, none.
    """
    if conf.tells_people():
        Notification.objects.create(
            person_id=question.person_id,
            subject=question.subject,
            record_id=question.pk,
            connection_id=question.connection_id,
            tag=question.tag,
            created_at=timezone.now(),
            expires_at=question.expires_at,
        )


def settle_all(*, now: datetime) -> None:
    """Settle what nobody has yet, person by person."""
    unsettled = Notification.objects.filter(settled_at=None).order_by("person_id")
    for person_id in list(unsettled.values_list("person_id", flat=True).distinct()):
        settle(person_id, now=now)


@transaction.atomic
def settle(person_id: Any, *, now: datetime) -> None:
    """Find what the person is told of what is new, and make a delivery for each of their ways."""
    chosen = lock_preferences(person_id)
    unsettled = Notification.objects.filter(person_id=person_id, settled_at=None)
    unsettled.filter(expires_at__lte=now).update(fate=Fate.OVER, settled_at=now)
    waiting = list(unsettled.order_by("pk")[:BATCH])
    last = {each.tag: each.pk for each in waiting}
    ways = [] if is_quiet(chosen, now=now) else find_ways(chosen)
    muted = find_muted(person_id)
    for each in waiting:
        if last[each.tag] != each.pk:
            fate = Fate.OVER
        elif not ways or each.connection_id in muted:
            fate = Fate.UNWANTED
        else:
            fate = _find_fate(each, now=now)
        mine = unsettled.filter(pk=each.pk)
        if mine.update(fate=fate, settled_at=now) and fate in {Fate.TOLD, Fate.SUMMARY}:
            _deliver(each, ways, now=now)


def find_ways(chosen: Preferences) -> list[Way]:
    """Return the ways in which the person can be told now."""
    known = Device.objects.filter(person_id=chosen.person_id).order_by("pk")
    devices = known if conf.web_push_key() else ()
    return [*devices, None] if chosen.by_mail and conf.mail_from() else [*devices]


def _find_fate(notification: Notification, *, now: datetime) -> Fate:
    """Return whether it is told, or the summary that stands for the connection's next ones."""
    if notification.connection_id is None:
        return Fate.TOLD
    lately = Notification.objects.filter(
        connection_id=notification.connection_id,
        settled_at__gt=now - WINDOW,
        person_id=notification.person_id,
        fate__in=(Fate.TOLD, Fate.SUMMARY),
    )
    told = Counter(lately.values_list("fate", flat=True))
    if told[Fate.TOLD] < MOST_TOLD:
        return Fate.TOLD
    return Fate.COVERED if told[Fate.SUMMARY] else Fate.SUMMARY


def _deliver(notification: Notification, ways: Sequence[Way], *, now: datetime) -> None:
    """Make the deliveries; those of an older one with the same tag that are not sent yet are over.

    Of it the push services and screens drop what they have, by the tag.
    """
    older = Notification.objects.filter(person_id=notification.person_id, tag=notification.tag)
    unsent = Delivery.objects.filter(notification__in=older, ended_at=None)
    unsent.update(outcome=Outcome.OVER, ended_at=now)
    Delivery.objects.bulk_create(
        Delivery(
            notification=notification,
            device=way,
            service=way.service if way else MAIL,
            next_attempt_at=now,
        )
        for way in ways
    )


def forget_old(*, now: datetime) -> None:
    """Delete, in batches, what was over a day ago."""
    old = Notification.objects.filter(expires_at__lt=now - KEPT_AFTER_EXPIRY).order_by("pk")
    while keys := list(old.values_list("pk", flat=True)[:BATCH]):
        Notification.objects.filter(pk__in=keys).delete()
