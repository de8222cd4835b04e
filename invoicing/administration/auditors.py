"""How a guest becomes an auditor: a last day, the one permission that goes with it, no other."""

from datetime import date, timedelta
from typing import Any

from django.contrib.auth.models import Permission as PermissionRow
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from invoicing.access import Permission
from invoicing.models import User
from invoicing.services.record_changes import Changes

LAST_DAY = "audits_until"
# What decides whether a person can be an auditor.
DECISIVE = {LAST_DAY, "is_guest", "is_staff", "is_superuser", "groups", "user_permissions"}

# The longest time for which somebody is made an auditor: a leap year is a year too.
MOST_DAYS = 366

NO_GUEST = _("Only a guest can be an auditor. Tick “Is guest”, or leave this day empty.")
NO_LAST_DAY = _("A guest reads evidence only until a day: choose it here.")
WRONG_DAY = _(
    "Choose a day from today to a year from today. To end it at once, leave this day empty, or"
    " deactivate the person."
)
OTHER_RIGHTS = _(
    "An auditor has no other right. Take away what makes them an administrator, their roles and"
    " their other permissions, or leave this day empty."
)


def settle_auditor(person: User, changed: Changes) -> dict[str, Any]:
    """Return what changes of a person, with the permission that comes and goes with the last day.

    Raises ValidationError if they would be an auditor with any other right, for too long, or no
    guest, or a guest with that permission alone.
    """
    if DECISIVE.isdisjoint(changed):
        return {**changed}
    audit = PermissionRow.objects.get(
        content_type__app_label="invoices", codename=Permission.AUDIT.partition(".")[2]
    )
    others = [each for each in _read_all(person, changed, "user_permissions") if each != audit]
    if _read(person, changed, LAST_DAY):
        _check_auditor(person, changed, others)
        return {**changed, "user_permissions": [audit]}
    if person.audits_until:
        return {**changed, "user_permissions": others}
    if _read(person, changed, "is_guest") and audit in changed.get("user_permissions", ()):
        raise ValidationError({LAST_DAY: NO_LAST_DAY})
    return {**changed}


def is_cut_short(person: User, changed: Changes) -> bool:
    """Return whether an auditor may read less long than before, or is no auditor any more."""
    before, after = person.audits_until, _read(person, changed, LAST_DAY)
    return before is not None and (after is None or after < before)


def _check_auditor(person: User, changed: Changes, others: list[PermissionRow]) -> None:
    today = timezone.now().date()
    last_day: date | None = changed.get(LAST_DAY)
    if not _read(person, changed, "is_guest"):
        raise ValidationError({LAST_DAY: NO_GUEST})
    if last_day and not today <= last_day <= today + timedelta(days=MOST_DAYS):
        raise ValidationError({LAST_DAY: WRONG_DAY})
    flags = [_read(person, changed, name) for name in ("is_staff", "is_superuser")]
    if any(flags) or others or _read_all(person, changed, "groups"):
        raise ValidationError({LAST_DAY: OTHER_RIGHTS})


def _read(person: User, changed: Changes, name: str) -> Any:
    return changed.get(name, getattr(person, name))


def _read_all(person: User, changed: Changes, name: str) -> list[Any]:
    """Return the related records; a person who is not saved yet has none but the new ones."""
    if name in changed:
        return list(changed[name])
    return [] if person._state.adding else list(getattr(person, name).all())
