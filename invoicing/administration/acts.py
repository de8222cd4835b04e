"""What every act of administration has in common: one transaction, one order of locks, one trace.

An act takes the settings row and the head of the administration's chain before anything else, as
every ending of connections does. So acts wait for one another, and who acts is looked at again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.http import HttpRequest

from agent_access import audit
from agent_access.audit import Origin
from agent_access.connections import SYSTEM, live_connections, record_act, revoke_connections
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


@dataclass(frozen=True)
class Actor:
    """Who acts, and from where; nobody by name at the command line, or before signing in."""

    user: User | None
    origin: Origin

    @property
    def named(self) -> audit.Actor:
        """Return the actor as the audit names one."""
        return audit.Actor(self.origin, self.user.pk if self.user else None)


OPERATOR = Actor(None, SYSTEM)


def actor_of(request: HttpRequest) -> Actor:
    user = request.user if isinstance(request.user, User) else None
    return Actor(user, web_origin())


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
        by = User.objects.filter(pk=actor.user.pk).first() if actor.user else None
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
    return revoke_connections(connections, reason=REASONS[end], by=actor.named)


def write_down(action: str, *, target: object, actor: Actor, detail: str = "") -> None:
    """Append the act to the administration's chain: names of fields, and no values of texts."""
    record_act(action, actor.named, target=str(target), detail=detail[:DETAIL_LENGTH])
