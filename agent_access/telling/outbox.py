"""What is to be told: noted with the question, and settled later, to whom and in which way."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
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
from agent_access.telling.preferences import (
    find_muted,
    is_quiet,
    lock_preferences,
    mail_address,
)
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
            _deliver(each, ways, fate, now=now)


def find_ways(chosen: Preferences) -> list[Way]:
    """Return the ways in which the person can be told now."""
    known = Device.objects.filter(person_id=chosen.person_id).order_by("pk")
    devices = known if conf.web_push_key() else ()
    return [*devices, None] if chosen.by_mail and mail_address(chosen.person) else [*devices]


def _find_fate(notification: Notification, *, now: datetime) -> Fate:
    """Return whether it is told, or the summary that stands for the connection's next ones."""
    if notification.connection_id is None:
        return Fate.TOLD
    lately = Notification.objects.filter(
        connection_id=notification.connection_id,
        settled_at__gt=now - WINDOW,
        person_id=notification.person_id,
    )
    if lately.filter(fate=Fate.TOLD).count() < MOST_TOLD:
        return Fate.TOLD
    # One that was not sent, since all was over at that moment, stands for nothing that comes later.
    summaries = Delivery.objects.filter(notification__in=lately.filter(fate=Fate.SUMMARY))
    stands = summaries.exclude(outcome__in=(Outcome.OVER, Outcome.UNWANTED)).exists()
    return Fate.COVERED if stands else Fate.SUMMARY


def _deliver(notification: Notification, ways: Sequence[Way], fate: Fate, *, now: datetime) -> None:
    """Make the deliveries; those that they replace and that are not sent yet are over.

    Of what they replace the push services and screens drop what they have, by the tag. A summary
    stands for more than the question that was one too many: only another one replaces it.
    """
    replaced = Q(tag=notification.tag, fate=Fate.TOLD)
    if fate == Fate.SUMMARY:
        replaced |= Q(connection_id=notification.connection_id, fate=Fate.SUMMARY)
    older = Notification.objects.filter(replaced, person_id=notification.person_id)
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
