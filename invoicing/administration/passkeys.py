"""Who needs a passkey to sign in, and from which day, as acts of administration."""

from datetime import date, timedelta

from django.db.models import QuerySet

from agent_access.audit import Actor
from agent_access.passkeys.models import Passkey
from invoicing.administration.acts import act_of, record_admin_act
from invoicing.errors import DayTooEarlyError, PasskeyMissingError
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
