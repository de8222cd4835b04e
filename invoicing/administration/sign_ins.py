"""Passwords, one-time codes and signing out everywhere, as acts of administration."""

from uuid import UUID

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password

from agent_access.audit import OPERATOR, Actor
from agent_access.models.connections import RevokedReason
from invoicing.administration.acts import (
    act_of,
    end_connections,
    locked_administration,
    record_admin_act,
)
from invoicing.administration.one_time_codes import (
    check_code,
    code_for,
    find_by_code,
    may_make_code,
)
from invoicing.administration.people import may_change_people
from invoicing.errors import CodeInvalidError, ConflictError, PermissionMissingError
from invoicing.locks import lock_person
from invoicing.models import User
from invoicing.rights import may_change_sign_in


def sign_out_everywhere(actor: Actor, pk: UUID) -> int:
    """End a person's web sessions and connections; return how many connections.

    For oneself, or as an administrator. Raises RecordNotFoundError, PermissionMissingError.
    """
    with act_of(actor, lambda by: by.pk == pk or may_change_people(by)) as by:
        person = lock_person(pk)
        if by.pk != pk and not may_change_sign_in(by, person):
            raise PermissionMissingError
        return _end_sign_ins(person, action="person:signed_out", actor=actor)


def make_code(actor: Actor, pk: UUID) -> str:
    """Return a one-time code, to be shown once, with which a person can choose a password.

    Raises RecordNotFoundError, PermissionMissingError, and CodeInvalidError for inactive people.
    """
    with act_of(actor, may_change_people) as by:
        person = lock_person(pk)
        if not may_make_code(by, person):
            raise PermissionMissingError
        return _make_code(person, maker=by, actor=actor)


def make_code_as_operator(pk: UUID) -> str:
    """Return a one-time code for anybody, even the owner; raises CodeInvalidError as above."""
    with locked_administration():
        return _make_code(lock_person(pk), maker=None, actor=OPERATOR)


def _make_code(person: User, *, maker: User | None, actor: Actor) -> str:
    if not person.is_active:
        raise CodeInvalidError
    record_admin_act("person:code_made", target=person.pk, actor=actor)
    return code_for(person, maker=maker)


def use_code(code: str, password: str, *, actor: Actor) -> User:
    """Set the password of the person whose code it is, which ends their connections; return them.

    Raises CodeInvalidError, and ValidationError for a password too easy to guess.
    """
    person = find_by_code(code)
    validate_password(password, person)
    digest = make_password(password)  # slow by design, so before any lock
    with locked_administration():
        person = lock_person(person.pk)
        check_code(code, person)
        user = Actor(actor.origin, person.pk)
        _write_password(person, digest, action="person:code_used", actor=user)
    return person


def change_own_password(actor: Actor, password: str, *, known: User) -> User:
    """Change the actor's own password, which ends their connections; return them as written.

    `known` is the actor as read when the current password was checked. Raises ValidationError,
    ConflictError if the password changed since, and PermissionMissingError if the person is not
    active any more or their sessions ended since.
    """
    validate_password(password, known)
    digest = make_password(password)
    with act_of(actor, lambda by: by.is_active) as by:
        person = lock_person(by.pk)
        if person.get_session_auth_hash() != known.get_session_auth_hash():
            raise ConflictError
        _write_password(person, digest, action="person:password_changed", actor=actor)
    return person


def change_password_as_operator(person: User, password: str) -> int:
    """Set anybody's password, without validating it; return how many connections that ended."""
    digest = make_password(password)
    with locked_administration():
        person = lock_person(person.pk)
        return _write_password(person, digest, action="person:password_changed", actor=OPERATOR)


def _write_password(person: User, digest: str, *, action: str, actor: Actor) -> int:
    person.password = digest
    return _end_sign_ins(person, action=action, actor=actor)


def _end_sign_ins(person: User, *, action: str, actor: Actor) -> int:
    """Save a person who is locked, with another password perhaps, and end all sessions.

    Return how many connections ended.
    """
    ended = end_sign_ins(person, actor=actor)
    record_admin_act(action, target=person.pk, actor=actor)
    return ended


def end_sign_ins(person: User, *, actor: Actor) -> int:
    """Save a person who is locked, and end all sessions, within an act that audits why.

    Return how many connections ended.
    """
    person.session_revision += 1
    person.save(update_fields=["password", "session_revision"])
    return end_connections(person, RevokedReason.SESSIONS_ENDED, actor=actor)
