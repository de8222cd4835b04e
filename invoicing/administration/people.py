"""Creates and changes people, as acts of administration; some changes end connections."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from agent_access.audit import Actor
from agent_access.models.connections import RevokedReason
from invoicing.administration.acts import (
    act_of,
    end_connections,
    record_admin_act,
    wait_for_calls_of,
)
from invoicing.administration.auditors import LAST_DAY, is_cut_short, settle_auditor
from invoicing.errors import ConflictError, PermissionMissingError
from invoicing.locks import lock_person
from invoicing.models import User
from invoicing.rights import is_owner, may_administer, may_change_sign_in, may_give_every_right
from invoicing.services.record_changes import (
    Changes,
    digest_record,
    find_changed,
    tidy_changes,
    write_changes,
)
from invoicing.services.working_hours import Stretch, read_hours, write_hours

may_add_people = partial(may_administer, permission="invoices.add_user")
may_change_people = partial(may_administer, permission="invoices.change_user")

# Fields that decide whether and how somebody signs in, and those that give rights.
SIGN_IN = frozenset({"email", "is_active", "is_guest"})
ADMIN_FLAGS = frozenset({"is_staff", "is_superuser"})
PERMISSIONS = frozenset({"groups", "user_permissions"})
RIGHTS = ADMIN_FLAGS | PERMISSIONS | {LAST_DAY}
# Fields of the owner that nobody can change, the owner included.
FIXED_FOR_OWNER = frozenset({"is_active", "is_guest"})

OWNER_STAYS = _("The owner must be an active person and not a guest. Transfer the ownership first.")
OWN_MANAGER = _("Nobody can be their own manager, directly or through others.")


def digest_person(person: User) -> str:
    """Return a digest of all that an administrator's form shows, working hours included."""
    return digest_record(person, also=read_hours(person))


def create_person(actor: Actor, changes: Changes, *, hours: Sequence[Stretch] = ()) -> User:
    """Save a new person, who needs a one-time code to sign in for the first time.

    Raises ValidationError, and PermissionMissingError for rights that the actor may not give.
    """
    with act_of(actor, may_add_people) as by:
        person = User()
        person.set_unusable_password()
        tidied = _tidy(person, changes)
        given = {name for name in RIGHTS & tidied.keys() if tidied[name]}
        if given and not may_give_every_right(by):
            raise PermissionMissingError
        write_changes(person, settle_auditor(person, tidied))
        write_hours(person, hours)
        told = _tell(person, [LAST_DAY] if person.audits_until else [])
        record_admin_act("person:created", target=person.pk, actor=actor, detail=told)
    return person


def change_person(
    actor: Actor, pk: UUID, changes: Changes, *, hours: Sequence[Stretch] | None = None, seen: str
) -> User:
    """Write the changes of a person whose digest_person() is still `seen`; return the person.

    Raises ValidationError, PermissionMissingError for what the actor may not change,
    RecordNotFoundError, and ConflictError if somebody else changed the person meanwhile.
    """
    with act_of(actor, may_change_people) as by:
        person = lock_person(pk)
        if digest_person(person) != seen:
            raise ConflictError
        changed = _write(person, changes, by=by, actor=actor)
        if hours is not None and sorted(hours) != read_hours(person):
            write_hours(person, hours)
            changed = (*changed, "working_hours")
        if changed:
            record_admin_act(
                "person:changed", target=pk, actor=actor, detail=_tell(person, changed)
            )
    return person


def _write(person: User, changes: Changes, *, by: User, actor: Actor) -> tuple[str, ...]:
    """Write what changes, and end sessions and connections if that requires it; return the fields.

    Connections end before the person is written: ending them waits for calls that are committing
    and read the person's row, which a change of the e-mail address locks. So does a change of what
    the person may do.
    """
    changed = find_changed(person, _tidy(person, changes))
    if changed:
        _check_rights(person, changed, by=by)
        _check_manager(person, changed.get("manager"))
        changed = find_changed(person, settle_auditor(person, changed))
        revision = {}
        if reason := _find_end(person, changed):
            end_connections(person, reason, actor=actor)
            revision = {"session_revision": person.session_revision + 1}
        elif PERMISSIONS.intersection(changed):
            wait_for_calls_of(User.objects.filter(pk=person.pk))
        write_changes(person, changed | revision)
    return tuple(changed)


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


def _find_end(person: User, changed: Changes) -> RevokedReason | None:
    if not changed.get("is_active", True):
        return RevokedReason.USER_DEACTIVATED
    if changed.get("is_guest"):
        return RevokedReason.USER_BECAME_GUEST
    is_ended = not {"is_guest", *ADMIN_FLAGS}.isdisjoint(changed)
    is_ended = is_ended or is_cut_short(person, changed)
    return RevokedReason.SESSIONS_ENDED if is_ended else None


def _tell(person: User, fields: Collection[str]) -> str:
    """Return the names of the changed fields, with new values that say what somebody may do."""
    return ", ".join(_tell_field(name, getattr(person, name)) for name in fields)


def _tell_field(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"{name}={'yes' if value else 'no'}"
    return f"{name}={value or 'none'}" if name == LAST_DAY else name
