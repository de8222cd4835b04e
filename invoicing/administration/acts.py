"""What every act of administration has in common: one transaction, one order of locks, one trace.

An act takes the settings row and the head of the administration's chain before anything else, as
every ending of connections does. So acts wait for one another, and who acts is looked at again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import transaction
from django.http import HttpRequest

from agent_access import audit
from agent_access.audit import Actor
from agent_access.connections import live_connections, record_act, revoke_connections
from agent_access.models.audit import DETAIL_LENGTH
from agent_access.models.connections import Connection, RevokedReason
from agent_access.models.settings import AccessSettings
from invoicing.errors import PermissionMissingError
from invoicing.models import User
from invoicing.services.people import SessionsEnd
from invoicing.visits import web_origin

REASONS = {
    SessionsEnd.DEACTIVATED: RevokedReason.USER_DEACTIVATED,
    SessionsEnd.BECAME_GUEST: RevokedReason.USER_BECAME_GUEST,
    SessionsEnd.SIGNED_OUT: RevokedReason.SESSIONS_ENDED,
}


def actor_of(request: HttpRequest) -> Actor:
    return Actor(web_origin(), request.user.pk)


@contextmanager
def locked_administration() -> Iterator[None]:
    with transaction.atomic():
        AccessSettings.lock()
        audit.lock_administration()
        yield


@contextmanager
def act_of(actor: Actor, is_allowed: Callable[[User], bool]) -> Iterator[User]:
    """Hold the administration, and give the actor as he stands at this moment.

    Raises PermissionMissingError.
    """
    with locked_administration():
        by = User.objects.filter(pk=actor.id).first() if actor.id else None
        if by is None or not is_allowed(by):
            raise PermissionMissingError
        yield by


def count_connections(person: User | None = None) -> int:
    """Return how many live connections act as the person, or how many there are."""
    live = live_connections()
    return (live.filter(user=person) if person else live).count()


def end_connections(person: User, end: SessionsEnd, *, actor: Actor) -> int:
    """End every connection that acts as the person; return how many."""
    connections = Connection.objects.filter(user=person)
    return revoke_connections(connections, reason=REASONS[end], by=actor)


def write_down(action: str, *, target: object, actor: Actor, detail: str = "") -> None:
    """Append the act to the administration's chain: names of fields, and no values of texts."""
    record_act(action, actor, target=str(target), detail=detail[:DETAIL_LENGTH])
