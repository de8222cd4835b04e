"""The worker that tells people: it settles what is new, claims what is due, and sends it.

One thread alone asks the database; each sending has a thread of its own, which asks nothing but its
push service or mail server. Any number of workers may run.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, close_old_connections, connections, transaction
from django.db.models import F
from django.utils import timezone

from agent_access.telling import digests, heads
from agent_access.telling.devices import reseal_devices
from agent_access.telling.messages import Message, compose
from agent_access.telling.models import Delivery, Device, Outcome, Preferences, Problem
from agent_access.telling.outbox import Way, find_ways, forget_old, settle_all
from agent_access.telling.preferences import (
    find_muted,
    is_quiet,
    lock_preferences,
    read_preferences,
)
from agent_access.telling.sending import Answer, push, send_mail

logger = logging.getLogger(__name__)

IDLE_SECONDS = 0.3
STOPPING_SECONDS = 10
MOST_AT_ONCE = 16
# One that hangs leaves places to others.
MOST_PER_SERVICE = 4
# Longer than any sending takes; one that takes longer is renewed.
LEASE = timedelta(seconds=30)
MOST_BACKOFF = timedelta(minutes=1)
SWEEP = timedelta(hours=1)

Send = Callable[[], Answer]

# What is sent at times that the person chose, and whether they still want it.
WANTS: Mapping[str, Callable[[Preferences], bool]] = {
    digests.SUBJECT: digests.wants_digest,
    heads.SUBJECT: heads.wants_heads,
}

PROBLEMS = {
    Answer.LATER: Problem.UNREACHABLE,
    Answer.REFUSED: Problem.REFUSED,
    Answer.UNREADABLE: Problem.UNREADABLE,
}


@dataclass(frozen=True)
class Sending:
    """What is being sent, claimed until `leased_until`."""

    delivery: Delivery
    leased_until: datetime


class Worker:
    """Tells people until it is stopped; a failure of the database is waited out."""

    def __init__(self) -> None:
        self._sendings: dict[UUID, Sending] = {}
        self._answers: SimpleQueue[tuple[UUID, Answer]] = SimpleQueue()
        self._unmarked: dict[UUID, Answer] = {}
        self._swept_at: datetime | None = None
        self._is_failing = False

    def run(self, stopped: Event) -> None:
        """Work until the event is set, and then end what is under way."""
        while not stopped.is_set():
            self._try(self.work)
            self._collect(IDLE_SECONDS)
        until = monotonic() + STOPPING_SECONDS
        while (self._sendings or self._unmarked) and monotonic() < until:
            self._try(self._mark_all)
            self._collect(IDLE_SECONDS)
        connections.close_all()

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
            self._is_failing = False
        except (DatabaseError, InterfaceError) as error:
            if not self._is_failing:
                logger.warning("Nobody can be told of anything now: %s.", type(error).__name__)
            self._is_failing = True
            # Not before each act: a project may let no connection outlast a request.
            close_old_connections()

    def _collect(self, seconds: float) -> None:
        """Wait so long for an answer, and take all that there are."""
        try:
            while True:
                key, answer = self._answers.get(timeout=seconds)
                self._unmarked[key] = answer
                seconds = 0
        except Empty:
            pass

    def work(self) -> None:
        """Do what is to be done now."""
        self._mark_all()
        now = timezone.now()
        self._renew(now)
        settle_all(now=now)
        if self._swept_at is None or now - self._swept_at > SWEEP:
            reseal_devices()
            forget_old(now=now)
            digests.write_digests(now=now)
            heads.write_mails(now=now)
            self._swept_at = now
        self._start_due(now)

    def _mark_all(self) -> None:
        for key, answer in list(self._unmarked.items()):
            mark(self._sendings[key].delivery, answer, now=timezone.now())
            del self._unmarked[key], self._sendings[key]

    def _renew(self, now: datetime) -> None:
        half = now + LEASE / 2
        ending = [key for key, each in self._sendings.items() if each.leased_until < half]
        if ending:
            rows = Delivery.objects.filter(pk__in=ending, ended_at=None)
            rows.update(next_attempt_at=now + LEASE)
        for key in ending:
            self._sendings[key] = replace(self._sendings[key], leased_until=now + LEASE)

    def _start_due(self, now: datetime) -> None:
        """Claim what is due, as far as there is room, and send it."""
        busy = Counter(each.delivery.service for each in self._sendings.values())
        full = [service for service, count in busy.items() if count >= MOST_PER_SERVICE]
        due = Delivery.objects.filter(ended_at=None, next_attempt_at__lte=now)
        rows = due.exclude(service__in=full).order_by("next_attempt_at")
        room = MOST_AT_ONCE - len(self._sendings)
        for delivery in rows.select_related("notification__person", "device")[:room]:
            if busy[delivery.service] < MOST_PER_SERVICE and claim(delivery, now=now):
                busy[delivery.service] += 1
                self._start(delivery, now=now)

    def _start(self, delivery: Delivery, *, now: datetime) -> None:
        try:
            send = prepare(delivery, now=now)
        except (DatabaseError, InterfaceError):
            raise
        except Exception:
            logger.exception("A notification cannot be written; it is tried again.")
            return
        if send is not None:
            self._sendings[delivery.pk] = Sending(delivery, now + LEASE)
            # A daemon, since a mail server that never ends must not keep the process from ending.
            Thread(target=self._send, args=(delivery.pk, send), daemon=True).start()

    def _send(self, key: UUID, send: Send) -> None:
        answer = Answer.LATER
        try:
            answer = send()
        except Exception as error:  # noqa: BLE001  tried again; its text may hold an address
            logger.error("A notification could not be sent: %s.", type(error).__name__)  # noqa: TRY400  as above
        finally:
            self._answers.put((key, answer))


@contextmanager
def work_beside() -> Iterator[None]:
    """Let a worker tell people, in a thread of this process, while the block runs."""
    stopped = Event()
    thread = Thread(target=Worker().run, args=(stopped,))
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def claim(delivery: Delivery, *, now: datetime) -> bool:
    """Take the delivery until the lease ends; return False if another worker was faster."""
    seen = {"pk": delivery.pk, "ended_at": None, "next_attempt_at": delivery.next_attempt_at}
    delivery.attempts += 1
    return bool(
        Delivery.objects.filter(**seen).update(
            next_attempt_at=now + LEASE, attempts=F("attempts") + 1
        )
    )


def prepare(delivery: Delivery, *, now: datetime) -> Send | None:
    """Return what sends the delivery; None if it ended, since there is nothing to tell any more."""
    notification, device = delivery.notification, delivery.device
    chosen = read_preferences(notification.person)
    if is_unwanted(delivery, chosen, now=now):
        _end(delivery, Outcome.UNWANTED, now=now)
        return None
    message = compose(notification, chosen, now=now)
    if message is None:
        _end(delivery, Outcome.OVER, now=now)
        return None
    return make_sending(device, notification.person, message, key=str(delivery.pk), now=now)


def make_sending(way: Way, person: Any, message: Message, *, key: str, now: datetime) -> Send:
    """Return what sends the message to the person in this way, without asking the database."""
    if way is None:
        address = getattr(person, person.get_email_field_name())
        return partial(send_mail, address, message, key=key)
    return partial(push, way.sealed, message, now=now)


def is_unwanted(delivery: Delivery, chosen: Preferences, *, now: datetime) -> bool:
    """Return whether the person chose meanwhile not to be told so, or of it."""
    if wants := WANTS.get(delivery.notification.subject):
        return not wants(chosen)
    is_muted = delivery.notification.connection_id in find_muted(chosen.person_id)
    return is_muted or is_quiet(chosen, now=now) or delivery.device not in find_ways(chosen)


def _end(delivery: Delivery, outcome: Outcome, *, now: datetime) -> None:
    Delivery.objects.filter(pk=delivery.pk, ended_at=None).update(outcome=outcome, ended_at=now)


@transaction.atomic
def mark(delivery: Delivery, answer: Answer, *, now: datetime) -> None:
    """Write down what came of an attempt, unless the delivery has left with its person."""
    if not Delivery.objects.filter(pk=delivery.pk).exists():
        return
    if delivery.device_id:
        person_id = delivery.notification.person_id
        mark_device(delivery.device_id, answer, person_id=person_id, now=now)
    if answer == Answer.SENT:
        _end(delivery, Outcome.SENT, now=now)
    elif answer == Answer.LATER:
        again_at = now + min(timedelta(seconds=2 ** min(delivery.attempts, 6)), MOST_BACKOFF)
        Delivery.objects.filter(pk=delivery.pk, ended_at=None).update(next_attempt_at=again_at)
    else:
        _end(delivery, Outcome.REFUSED, now=now)


@transaction.atomic
def mark_device(pk: UUID, answer: Answer, *, person_id: Any, now: datetime) -> None:
    """Keep what the push service said of the person's device, and forget one that has left.

    Under the lock of who removes a device: its deliveries go with it, and none may come meanwhile.
    """
    lock_preferences(person_id)
    device = Device.objects.filter(pk=pk)
    if answer == Answer.GONE:
        device.delete()
    elif answer == Answer.SENT:
        device.update(last_told_at=now, problem="")
    else:
        device.update(problem=PROBLEMS[answer])
