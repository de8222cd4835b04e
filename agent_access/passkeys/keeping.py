"""Adding, naming and removing passkeys, each with its event in the administration's audit.

Who holds somebody's web session, password and page can change none of them: each change asks for a
passkey that the person has, with user verification, or for a one-time link of somebody else.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction

from agent_access import audit, conf
from agent_access.audit import Actor, record_act
from agent_access.connections import reload_signed_in
from agent_access.database.clock import read_clock
from agent_access.keys import to_key
from agent_access.models.settings import AccessSettings
from agent_access.passkeys.assertions import AssertionRefusedError, verify_assertion
from agent_access.passkeys.links import (
    LinkInvalidError,
    find_named,
    make_link_token,
    may_help,
    read_link_token,
)
from agent_access.passkeys.mails import Change, tell_of
from agent_access.passkeys.models import Passkey, SigningRules
from agent_access.passkeys.refusals import PasskeyRefusedError, Reason, clean_name
from agent_access.passkeys.registrations import (
    Registered,
    RegistrationRefusedError,
    verify_registration,
)
from agent_access.passkeys.sent import decode

__all__ = [
    "ForPurpose",
    "NewPasskey",
    "add_by_link",
    "add_passkey",
    "make_link",
    "remove_passkey",
    "rename_passkey",
]

ADDED, REMOVED, RENAMED = "passkey:added", "passkey:removed", "passkey:renamed"
LINK_MADE, REFUSED = "passkey:link_made", "passkey:refused"


class ForPurpose(StrEnum):
    """What a challenge is for: to make a passkey, and with one to allow what is done to passkeys.

    That is to add another one, to remove the one that the challenge is about, or to give the person
    whom it is about a link. RECOVER makes one too, for who has a link and knows their password.
    """

    REGISTER = "register"
    ADD = "add"
    REMOVE = "remove"
    LINK = "link"
    RECOVER = "recover"


@dataclass(frozen=True, kw_only=True)
class NewPasskey:
    """What a browser sends of a new passkey, as JSON, and what the person says of it."""

    registration: str
    name: str
    is_apart: bool = False


def add_passkey(
    actor: Actor,
    person: Any,
    new: NewPasskey,
    *,
    session: str,
    allowed_by: str,
    session_passkey: UUID | None = None,
) -> Passkey:
    """Add another passkey of the person, which one that they have allows.

    `person` is the one who has signed in, as read at the beginning of the request, and `session`
    the digest of their web session, which `session_passkey` began on its own device. `allowed_by`
    is an assertion for ADD, in JSON. Raises NameInvalidError, and PasskeyRefusedError, which is
    audited.
    """
    name, now = clean_name(new.name), read_clock()
    with _changes(actor, person.pk):
        current = _lock_signed_in(person)
        by = _prove(allowed_by, ForPurpose.ADD, session=session, person=current, now=now)
        if new.is_apart:
            _require_apart(current, by, session_passkey)
        made = _register(new, ForPurpose.REGISTER, session=session, person=current, now=now)
        added = _keep(actor, current, made, name=name, is_apart=new.is_apart, now=now)
        tell_of(Change.ADDED, current)
    return added


def add_by_link(actor: Actor, new: NewPasskey, *, session: str, link: str) -> Passkey:
    """Add the passkey of the person whom a link lets in, who showed that they know their password.

    Those that they had are removed, and all their sessions end; the person of the passkey is as
    written. `session` is that of the challenge for RECOVER. Raises as `add_passkey` does.
    """
    name = clean_name(new.name)
    named = find_named(link)
    if named is None:  # nobody whom the audit could name
        raise PasskeyRefusedError(Reason.LINK)
    with _changes(actor, named.pk):
        now = read_clock()  # as where one is removed
        person = _lock_person(named.pk)
        _require_link(link)
        by = Actor(actor.origin, to_key(person.pk))
        made = _register(new, ForPurpose.RECOVER, session=session, person=person, now=now)
        former = [*Passkey.objects.kept_by(person)]
        for each in former:
            _remove(by, each, now=now)
        added = _keep(by, person, made, name=name, is_apart=new.is_apart, now=now)
        conf.policy().end_sessions(person, by)
        tell_of(Change.RECOVERED if former else Change.ADDED, person)
    return added


def rename_passkey(actor: Actor, person: Any, pk: UUID, *, name: str) -> None:
    """Give one of the person's passkeys another name; raises as `add_passkey` does."""
    name = clean_name(name)
    with _changes(actor, person.pk):
        passkey = _find(_lock_signed_in(person), pk)
        passkey.name = name
        passkey.save(update_fields=["name"])
        _record(RENAMED, actor, passkey)


def remove_passkey(actor: Actor, person: Any, pk: UUID, *, session: str, allowed_by: str) -> Any:
    """Remove one of the person's passkeys, which it or another one allows, and end all sessions.

    `allowed_by` is an assertion for REMOVE of this very passkey. Return the person as written, so
    that this session can go on. Raises PasskeyRefusedError.
    """
    with _changes(actor, person.pk):
        now = read_clock()  # after the locks: what it has signed until then, it signed before
        current = _lock_signed_in(person)
        _find(current, pk)
        _require_another(current, pk)
        _prove(
            allowed_by, ForPurpose.REMOVE, session=session, person=current, now=now, about=str(pk)
        )
        _remove(actor, _find(current, pk), now=now)
        conf.policy().end_sessions(current, actor)
        tell_of(Change.REMOVED, current)
    return current


def make_link(
    actor: Actor, person: Any, *, maker: Any | None, session: str = "", allowed_by: str = ""
) -> str:
    """Return the secret of a link for the person, to be shown once; they are told that it exists.

    `maker` is who asks, or None for an operator, who may give anybody one. A maker who has passkeys
    allows it with one: `allowed_by` is an assertion for LINK of this person. Otherwise who holds
    the session of the maker could sign as others. Raises PasskeyRefusedError.
    """
    with _changes(actor, person.pk, maker):
        current = _lock_person(person.pk)
        by = _lock_signed_in(maker) if maker else None
        if not current.is_active or (by and not may_help(by, current)):
            raise PasskeyRefusedError(Reason.NOT_ALLOWED)
        if by and Passkey.objects.kept_by(by).exists():
            asked = {"session": session, "person": by, "now": read_clock()}
            _prove(allowed_by, ForPurpose.LINK, about=str(current.pk), **asked)
        record_act(LINK_MADE, actor, target=str(to_key(current.pk)))
        tell_of(Change.LINK_MADE, current)
        return make_link_token(current, by)


@contextmanager
def _changes(actor: Actor, person_pk: Any, maker: Any | None = None) -> Iterator[None]:
    """Begin the transaction of a change, which holds the locks of all acts of administration.

    The passkeys are locked after these, as where one confirms an act or signs it by hand, and
    before the heads of connections: who signs a decision holds a passkey when it is audited. What
    is refused is undone, and then audited by itself.
    """
    try:
        with transaction.atomic():
            AccessSettings.lock()
            audit.lock_administration()
            _lock_passkeys({person_pk, maker.pk} if maker else {person_pk})
            yield
    except PasskeyRefusedError as refusal:
        with transaction.atomic():
            target = str(to_key(person_pk))
            record_act(REFUSED, actor, target=target, outcome="refused", detail=refusal.reason)
        raise


def _lock_passkeys(people: set[Any]) -> None:
    kept = Passkey.objects.filter(person__in=people, removed_at=None).order_by("pk")
    len(kept.select_for_update(of=("self",), no_key=True))


def _lock_person(pk: Any) -> Any:
    """Return the person as of now, locked after all that acts lock first."""
    people: Any = get_user_model()._default_manager  # noqa: SLF001  Django's public name for a swapped model's manager
    return people.select_for_update(of=("self",), no_key=True).get(pk=pk)


def _lock_signed_in(person: Any) -> Any:
    """Return the person as of now, locked; refused if their sessions ended since they were read."""
    current = _lock_person(person.pk)
    if not current.is_active or reload_signed_in(person) is None:
        raise PasskeyRefusedError(Reason.SIGNED_OUT)
    return current


def _prove(text: str, purpose: ForPurpose, *, person: Any, about: str = "", **told: Any) -> Passkey:
    """Return which passkey the person has just used for this; refuse what does not prove it."""
    try:
        proven = verify_assertion(text, purpose, person=person, **told)
    except AssertionRefusedError:
        raise PasskeyRefusedError(Reason.ASSERTION) from None
    if proven.content.get("about", "") != about:
        raise PasskeyRefusedError(Reason.ASSERTION)
    return proven.passkey


def _require_apart(person: Any, by: Passkey, session_passkey: UUID | None) -> None:
    """Refuse that a device which an agent may use makes a passkey that counts as one kept apart.

    Otherwise a program there, which shows what it likes, would get a key of its own, and sign
    without the person from then on. Who never had one, where none is demanded, tells the first.
    """
    ever = Passkey.objects.filter(person=person, is_apart=True).exists()
    if not ever and not SigningRules.read().apart:
        return
    if not (by.is_apart and by.pk == session_passkey):
        raise PasskeyRefusedError(Reason.NOT_APART)


def _register(new: NewPasskey, purpose: ForPurpose, **told: Any) -> Registered:
    try:
        made = verify_registration(new.registration, purpose, **told)
    except RegistrationRefusedError:
        raise PasskeyRefusedError(Reason.REGISTRATION) from None
    if Passkey.objects.filter(credential_id=made.credential_id).exists():
        raise PasskeyRefusedError(Reason.KNOWN)
    return made


def _keep(
    actor: Actor, person: Any, made: Registered, *, name: str, is_apart: bool, now: datetime
) -> Passkey:
    added = Passkey.objects.create(
        person=person,
        credential_id=made.credential_id,
        public_key=made.public_key,
        counter=made.counter,
        is_synced=made.is_synced,
        name=name,
        is_apart=is_apart,
        added_at=now,
    )
    _record(ADDED, actor, added)
    return added


def _find(person: Any, pk: UUID) -> Passkey:
    found = Passkey.objects.kept_by(person).filter(pk=pk).first()
    if found is None:
        raise PasskeyRefusedError(Reason.GONE)
    return found


def _require_another(person: Any, pk: UUID) -> None:
    """Refuse to remove the last passkey of somebody who needs one."""
    others = Passkey.objects.kept_by(person).exclude(pk=pk)
    if not others.exists() and conf.policy().needs_passkey(person):
        raise PasskeyRefusedError(Reason.LAST)


def _remove(actor: Actor, passkey: Passkey, *, now: datetime) -> None:
    passkey.removed_at = now
    passkey.save(update_fields=["removed_at"])
    _record(REMOVED, actor, passkey)


def _record(action: str, actor: Actor, passkey: Passkey) -> None:
    """Append the event, which names the passkey by its ID, and its key by the digest."""
    digest = hashlib.sha256(decode(passkey.public_key)).hexdigest()
    target = str(to_key(passkey.person_id))
    record_act(action, actor, target=target, detail=str(passkey.pk), content_digest=digest)


def _require_link(link: str) -> None:
    try:
        read_link_token(link)
    except LinkInvalidError:
        raise PasskeyRefusedError(Reason.LINK) from None
