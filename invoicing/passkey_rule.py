"""From which day people need a passkey to sign in, as the owner chose."""

from datetime import UTC, date

from django.db.models import Subquery
from django.utils import timezone

from invoicing.models import Company

# The day, as a part of another query; null is never.
REQUIRED_FROM = Subquery(Company.objects.values("passkeys_required_from")[:1])


def required_from() -> date | None:
    return Company.objects.values_list("passkeys_required_from", flat=True).first()


def today() -> date:
    """Return the day in UTC, in which the owner's day begins for everybody at once."""
    return timezone.now().astimezone(UTC).date()


def has_come(day: date | None) -> bool:
    """Return whether passkeys are required by now, from this day on."""
    return day is not None and day <= today()
