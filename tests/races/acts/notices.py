"""How people are told, and what the worker that tells them does meanwhile."""

from typing import Any

from django.utils import timezone

from agent_access.telling import digests, heads
from agent_access.telling.devices import add_device, forget_device, reseal_devices
from agent_access.telling.models import Delivery, Outcome
from agent_access.telling.outbox import forget_old, settle_all
from agent_access.telling.preferences import mute, unmute
from agent_access.telling.sending import Answer
from agent_access.telling.worker import claim, mark, prepare
from tests.races.stage import Stage
from tests.races.table import Thing, act

PERSON = (Thing.PERSON,)


@act("the person adds a browser", Thing.NOTICE, needs=PERSON)
def add(stage: Stage) -> None:
    add_device(stage.people.dana, stage.telling.subscription, name="Firefox")


@act("another person adds the same browser", Thing.NOTICE)
def take_over(stage: Stage) -> None:
    add_device(stage.people.colin, stage.telling.subscription, name="Firefox")


@act("the person removes a browser", Thing.NOTICE, needs=PERSON)
def forget(stage: Stage) -> None:
    forget_device(stage.people.dana, stage.telling.device.pk)


@act("the person chooses how they are told", Thing.NOTICE, needs=PERSON, goes_on=True)
def choose(stage: Stage) -> Any:
    form = {"by_mail": "on", "wants_digest": "on", "shows_details": "on"}
    return stage.people.desk.post("/account/notifications/choices", form)


@act("the owner chooses the heads of the audit", Thing.NOTICE)
def choose_heads(stage: Stage) -> Any:
    form = {"by_mail": "on", "wants_heads": "on"}
    return stage.people.owner_desk.post("/account/notifications/choices", form)


@act("the person mutes a connection", Thing.NOTICE, needs=(Thing.PERSON, Thing.CONNECTION))
def mute_connection(stage: Stage) -> None:
    mute(stage.people.dana, stage.agents.connection.pk)


@act("the person hears a connection again", Thing.NOTICE, needs=(Thing.PERSON, Thing.CONNECTION))
def unmute_connection(stage: Stage) -> None:
    unmute(stage.people.dana, stage.clients.connection.pk)


@act("a worker settles what is new", Thing.NOTICE, needs=PERSON, has_parts=True)
def settle(stage: Stage) -> None:
    settle_all(now=timezone.now())


@act("a worker sends what is due", Thing.NOTICE, needs=PERSON, has_parts=True)
def send(stage: Stage) -> str:
    """It claims the delivery, reads what it says, and notes that the service took it."""
    now = timezone.now()
    due = Delivery.objects.select_related("notification__person", "device").filter(
        ended_at=None, next_attempt_at__lte=now
    )
    told = []
    for delivery in due.order_by("pk"):
        if claim(delivery, now=now) and prepare(delivery, now=now):
            mark(delivery, Answer.SENT, now=now)
            told.append(Outcome.SENT.value)
    return f"done: {told}"


@act("a worker learns that a browser has left", Thing.NOTICE, needs=PERSON)
def learn(stage: Stage) -> None:
    mark(stage.telling.delivery, Answer.GONE, now=timezone.now())


@act("a worker sweeps", Thing.NOTICE, needs=PERSON, has_parts=True)
def sweep(stage: Stage) -> None:
    now = timezone.now()
    reseal_devices()
    forget_old(now=now)
    digests.write_digests(now=now)
    heads.write_mails(now=now)
