"""People: who they are, what they may do, and which changes end their sessions."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from django.core.exceptions import ValidationError

from invoicing.administrators import is_owner, may_change_sign_in, may_give_every_right
from invoicing.errors import PermissionMissingError
from invoicing.models import User
from invoicing.services.record_changes import (
    Changes,
    digest_record,
    find_changed,
    tidy_changes,
    write_changes,
)
from invoicing.services.sign_ins import raise_session_revision
from invoicing.services.working_hours import Stretch, read_hours, write_hours

# Fields that decide whether and how somebody signs in, and those that give rights.
SIGN_IN = frozenset({"email", "is_active", "is_guest"})
ADMIN_FLAGS = frozenset({"is_staff", "is_superuser"})
RIGHTS = ADMIN_FLAGS | {"groups", "user_permissions"}
# Fields of the owner that nobody can change, the owner included.
FIXED_FOR_OWNER = frozenset({"is_active", "is_guest"})

OWNER_STAYS = "The owner must be an active person and not a guest. Transfer the ownership first."
OWN_MANAGER = "Nobody can be their own manager, directly or through others."


class SessionsEnd(Enum):
    """Why all sessions and connections of a person end."""

    DEACTIVATED = auto()
    BECAME_GUEST = auto()
    SIGNED_OUT = auto()


# Ends the person's connections, for this reason, in the transaction that changes the person.
EndConnections = Callable[[User, SessionsEnd], object]


@dataclass(frozen=True)
class PersonChange:
    """The person as written, and the names of the fields that changed."""

    person: User
    fields: tuple[str, ...]


def digest_person(person: User) -> str:
    """Return a digest of all that an administrator's form shows, working hours included."""
    return digest_record(person, also=read_hours(person))


def create_person(changes: Changes, *, hours: Sequence[Stretch] = (), by: User) -> User:
    """Save a new person, who needs a one-time code to sign in for the first time.

    Raises ValidationError, and PermissionMissingError for rights that `by` may not give.
    """
    person = User()
    person.set_unusable_password()
    tidied = _tidy(person, changes)
    given = {name for name in RIGHTS & tidied.keys() if tidied[name]}
    if given and not may_give_every_right(by):
        raise PermissionMissingError
    write_changes(person, tidied)
    write_hours(person, hours)
    return person


def change_person(
    person: User,
    changes: Changes,
    *,
    hours: Sequence[Stretch] | None = None,
    by: User,
    end_connections: EndConnections,
) -> PersonChange:
    """Write the changes of a locked person, and end sessions and connections if they require it.

    Connections end before the person is written: ending them waits for calls that are committing
    and read the person's row, which a change of the e-mail address locks. Raises ValidationError,
    and PermissionMissingError for what `by` may not change.
    """
    tidied = _tidy(person, changes)
    changed = find_changed(person, tidied)
    if changed:
        _check_rights(person, changed, by=by)
        _check_manager(person, tidied.get("manager"))
        if end := _find_end(tidied, changed):
            end_connections(person, end)
            raise_session_revision(person)
        write_changes(person, {name: tidied[name] for name in changed})
    if hours is not None and sorted(hours) != read_hours(person):
        write_hours(person, hours)
        changed = (*changed, "working_hours")
    return PersonChange(person, changed)


def _tidy(person: User, changes: Changes) -> dict[str, Any]:
    tidied = tidy_changes(person, changes)
    if "email" in tidied:
        tidied["email"] = User.objects.normalize_email(tidied["email"])
    return tidied


def _check_rights(person: User, changed: Collection[str], *, by: User) -> None:
    if RIGHTS.intersection(changed) and not may_give_every_right(by):
        raise PermissionMissingError
    if SIGN_IN.intersection(changed) and not may_change_sign_in(by, person):
        raise PermissionMissingError
    if not is_owner(person):
        return
    if ADMIN_FLAGS.intersection(changed) and by.pk != person.pk:
        raise PermissionMissingError
    if kept := FIXED_FOR_OWNER.intersection(changed):
        raise ValidationError(dict.fromkeys(kept, OWNER_STAYS))


def _check_manager(person: User, manager: User | None) -> None:
    above: list[User] = []
    while manager and manager not in above:
        above.append(manager)
        manager = manager.manager
    if person in above:
        raise ValidationError({"manager": OWN_MANAGER})


def _find_end(changes: Changes, changed: Collection[str]) -> SessionsEnd | None:
    if "is_active" in changed and not changes["is_active"]:
        return SessionsEnd.DEACTIVATED
    if "is_guest" in changed and changes["is_guest"]:
        return SessionsEnd.BECAME_GUEST
    is_ended = not {"is_guest", *ADMIN_FLAGS}.isdisjoint(changed)
    return SessionsEnd.SIGNED_OUT if is_ended else None
