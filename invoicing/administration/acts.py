"""What all acts of administration share: one transaction, one order of locks, one audit event.

An act first locks the row of agent access's settings and the head of the administration's chain, as
everything that ends connections does. So acts run one by one, and each checks its actor again. Only
what issuing locks is locked before: a customer, and the formats of numbers.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from agent_access import audit
from agent_access.audit import Actor, record_act
from agent_access.connections import live_connections, revoke_connections, wait_for_calls
from agent_access.models.audit import DETAIL_LENGTH
from agent_access.models.connections import Connection, RevokedReason
from agent_access.models.settings import AccessSettings
from invoicing.errors import PermissionMissingError
from invoicing.models import User
from invoicing.visits import web_origin


def actor_of(request: HttpRequest) -> Actor:
    """Return who acts, from where, and in which session."""
    user = request.user
    return Actor(web_origin(), user.pk, getattr(user, "session_revision", None))


@contextmanager
def locked_administration() -> Iterator[None]:
    """Begin a transaction that holds the locks of an act."""
    with transaction.atomic():
        take_locks()
        yield


def take_locks() -> None:
    """Lock what all acts lock first, in their order."""
    AccessSettings.lock()
    audit.lock_administration()


@contextmanager
def act_of(actor: Actor, is_allowed: Callable[[User], bool]) -> Iterator[User]:
    """Begin the transaction of an act, and yield the actor as read under its locks.

    Raises what read_actor() does, and PermissionMissingError if `is_allowed` says no by now.
    """
    with locked_administration():
        by = read_actor(actor)
        if not is_allowed(by):
            raise PermissionMissingError
        yield by


def read_actor(actor: Actor) -> User:
    """Return the actor as of now.

    Raises PermissionMissingError if there is none, or their sessions were ended since the request
    began.
    """
    by = User.objects.filter(pk=actor.id).first() if actor.id else None
    if by is None or actor.session_revision not in {None, by.session_revision}:
        raise PermissionMissingError
    return by


def count_connections(person: User | None = None) -> int:
    """Return how many live connections act as the person, or how many there are in all."""
    live = live_connections()
    return (live.filter(user=person) if person else live).count()


def end_connections(person: User, reason: RevokedReason, *, actor: Actor) -> int:
    """End every connection that acts as the person; return how many."""
    connections = Connection.objects.filter(user=person)
    return revoke_connections(connections, reason=reason, by=actor)


def wait_for_calls_of(people: QuerySet[User]) -> None:
    """Wait for the calls in flight for these people, before a permission is taken from them."""
    wait_for_calls(live_connections().filter(user__in=people))


def record_admin_act(action: str, *, target: object, actor: Actor, detail: str = "") -> None:
    """Append the act to the administration's chain; `detail` names fields, without their texts."""
    record_act(action, actor, target=str(target), detail=detail[:DETAIL_LENGTH])
