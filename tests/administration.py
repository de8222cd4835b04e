"""Acts of administration: who acts, and which events they leave."""

from typing import Any

from agent_access.audit import Actor, Origin
from agent_access.models import AuditEvent
from agent_access.models.audit import ADMINISTRATION, Transport
from invoicing.models import User
from tests.factories import UserFactory

ADDRESS = "192.0.2.7"
ORIGIN = Origin(transport=Transport.WEB, client_address=ADDRESS)


def acting(user: User | None) -> Actor:
    """Return the user as actor of an act of administration."""
    return Actor(ORIGIN, user.pk if user else None)


def make_administrator(*permissions: str, **fields: Any) -> User:
    """Return an administrator with these permissions, such as "change_customer"."""
    named = [f"invoices.{each}" for each in permissions]
    person: User = UserFactory.create(is_staff=True, permissions=named, **fields)
    return person


def read(person: User) -> User:
    """Return the person as the database has them."""
    return User.objects.get(pk=person.pk)


def acts_written() -> list[tuple[str, str, str]]:
    """Return action, target and detail of the administration's events, oldest first."""
    events = AuditEvent.objects.filter(chain=ADMINISTRATION).order_by("sequence")
    return list(events.values_list("action", "target", "detail"))
