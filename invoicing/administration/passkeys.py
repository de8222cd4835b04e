"""From which day people need a passkey, and links to add one, as acts of administration."""

from datetime import date, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from agent_access.audit import OPERATOR, Actor, record_act
from agent_access.passkeys.assertions import AssertionRefusedError, verify_assertion
from agent_access.passkeys.challenges import make_challenge
from agent_access.passkeys.keeping import make_link
from agent_access.passkeys.links import address_of
from agent_access.passkeys.models import Passkey
from agent_access.passkeys.options import assertion_options
from agent_access.passkeys.refusals import PasskeyRefusedError, Reason
from agent_access.web_sessions import digest_session
from invoicing.administration.acts import act_of, actor_of, locked_administration, record_admin_act
from invoicing.errors import (
    CodeInvalidError,
    DayTooEarlyError,
    PasskeyMissingError,
    PasskeyNotUsedError,
    PermissionMissingError,
)
from invoicing.models import Company, User
from invoicing.passkey_rule import today
from invoicing.rights import is_owner

PURPOSE = "rule"
REQUIRED, REFUSED = "passkeys:required", "passkeys:refused"


def has_passkey(person: User) -> bool:
    return Passkey.objects.kept_by(person).exists()


def people_without_passkey() -> QuerySet[User]:
    """Return who could not sign in with one: of all who are active, guests too."""
    having = Passkey.objects.filter(removed_at=None).values("person")
    return User.objects.filter(is_active=True).exclude(pk__in=having).order_by("name", "email")


def earliest_day() -> date:
    """Return from when passkeys can be required: today if nobody is left to add one."""
    return today() + timedelta(days=1 if people_without_passkey().exists() else 0)


def ask_to_confirm(request: HttpRequest, day: date | None) -> dict[str, Any]:
    """Return what the page's script asks the owner's browser for, to confirm just this day."""
    session = digest_session(request)
    challenge = make_challenge(PURPOSE, session=session, person=request.user, day=_write_day(day))
    return {"get": assertion_options(challenge)}


def require_passkeys(request: HttpRequest, day: date | None, confirmed_by: str) -> None:
    """Require passkeys of everybody from this day on (UTC), or of nobody; only the owner may.

    `confirmed_by` is what the browser answered to ask_to_confirm(), as JSON. Raises
    PermissionMissingError for anybody else, PasskeyMissingError for an owner without one,
    DayTooEarlyError, and PasskeyNotUsedError, which is audited.
    """
    actor = actor_of(request)
    if not Passkey.objects.kept_by(actor.id).exists():
        raise PasskeyMissingError
    try:
        with transaction.atomic(), act_of(actor, is_owner):
            # A passkey is locked after all that acts lock, as where passkeys are changed.
            _confirm(request, day, confirmed_by)
            _write(actor, day)
    except PasskeyNotUsedError:
        with locked_administration():
            record_act(REFUSED, actor, target=str(actor.id), outcome="refused")
        raise


def _confirm(request: HttpRequest, day: date | None, confirmed_by: str) -> None:
    """Raise PasskeyNotUsedError unless who asks has just used a passkey for exactly this."""
    session, now = digest_session(request), timezone.now()
    try:
        asserted = verify_assertion(
            confirmed_by, PURPOSE, session=session, person=request.user, now=now
        )
    except AssertionRefusedError:
        raise PasskeyNotUsedError from None
    if asserted.content["day"] != _write_day(day):
        raise PasskeyNotUsedError


def _write(actor: Actor, day: date | None) -> None:
    company = Company.objects.get()
    if day == company.passkeys_required_from:
        return
    if day is not None and day < earliest_day():
        raise DayTooEarlyError
    company.passkeys_required_from = day
    company.save(update_fields=["passkeys_required_from"])
    detail = f"from {_write_day(day)}" if day else "of nobody"
    record_admin_act(REQUIRED, target=company.pk, actor=actor, detail=detail)


def _write_day(day: date | None) -> str:
    return day.isoformat() if day else ""


def make_passkey_link(request: HttpRequest, person: User, confirmed_by: str) -> str:
    """Return a link, to be shown once, with which the person adds a passkey; they are told by mail.

    Who asks and has a passkey confirms it with that: `confirmed_by` is what their browser answered,
    as JSON. Raises CodeInvalidError for inactive people, PasskeyNotUsedError, and
    PermissionMissingError for who may not change how they sign in, or is the same person.
    """
    asked = {"session": digest_session(request), "allowed_by": confirmed_by}
    return _make_link(actor_of(request), person, maker=request.user, **asked)


def make_passkey_link_as_operator(person: User) -> str:
    """Return such a link for anybody, even the owner; raises CodeInvalidError as above."""
    return _make_link(OPERATOR, person, maker=None)


def _make_link(actor: Actor, person: User, *, maker: Any, **asked: str) -> str:
    if not person.is_active:
        raise CodeInvalidError
    try:
        return address_of(make_link(actor, person, maker=maker, **asked))
    except PasskeyRefusedError as refusal:
        is_unconfirmed = refusal.reason == Reason.ASSERTION
        raise (PasskeyNotUsedError if is_unconfirmed else PermissionMissingError) from None
