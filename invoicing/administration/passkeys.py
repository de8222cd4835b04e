"""From which day people need a passkey, and links to add one, as acts of administration."""

from datetime import date, timedelta

from django.db.models import QuerySet

from agent_access.audit import OPERATOR, Actor
from agent_access.passkeys.keeping import make_link
from agent_access.passkeys.links import address_of
from agent_access.passkeys.models import Passkey
from agent_access.passkeys.refusals import PasskeyRefusedError
from invoicing.administration.acts import act_of, record_admin_act
from invoicing.errors import (
    CodeInvalidError,
    DayTooEarlyError,
    PasskeyMissingError,
    PermissionMissingError,
)
from invoicing.models import Company, User
from invoicing.passkey_rule import today
from invoicing.rights import is_owner


def has_passkey(person: User) -> bool:
    return Passkey.objects.kept_by(person).exists()


def people_without_passkey() -> QuerySet[User]:
    """Return who could not sign in with one: of all who are active, guests too."""
    having = Passkey.objects.filter(removed_at=None).values("person")
    return User.objects.filter(is_active=True).exclude(pk__in=having).order_by("name", "email")


def earliest_day() -> date:
    """Return from when passkeys can be required: today if nobody is left to add one."""
    return today() + timedelta(days=1 if people_without_passkey().exists() else 0)


def require_passkeys(actor: Actor, day: date | None) -> None:
    """Require passkeys of everybody from this day on (UTC), or of nobody; only the owner may.

    Raises PermissionMissingError for anybody else, PasskeyMissingError for an owner without one,
    and DayTooEarlyError.
    """
    with act_of(actor, is_owner) as by:
        company = Company.objects.get()
        if day == company.passkeys_required_from:
            return
        if day is not None:
            _check_day(day, owner=by)
        company.passkeys_required_from = day
        company.save(update_fields=["passkeys_required_from"])
        detail = f"from {day.isoformat()}" if day else "of nobody"
        record_admin_act("passkeys:required", target=company.pk, actor=actor, detail=detail)


def _check_day(day: date, *, owner: User) -> None:
    if not has_passkey(owner):
        raise PasskeyMissingError
    if day < earliest_day():
        raise DayTooEarlyError


def make_passkey_link(actor: Actor, person: User, *, maker: User) -> str:
    """Return a link, to be shown once, with which the person adds a passkey; they are told by mail.

    Raises CodeInvalidError for inactive people, and PermissionMissingError for a maker who may not
    change how they sign in, or is the same person.
    """
    return _make_link(actor, person, maker=maker)


def make_passkey_link_as_operator(person: User) -> str:
    """Return such a link for anybody, even the owner; raises CodeInvalidError as above."""
    return _make_link(OPERATOR, person, maker=None)


def _make_link(actor: Actor, person: User, *, maker: User | None) -> str:
    if not person.is_active:
        raise CodeInvalidError
    try:
        return address_of(make_link(actor, person, maker=maker))
    except PasskeyRefusedError:
        raise PermissionMissingError from None
