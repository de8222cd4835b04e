"""The address at which a one-time code is used, as an administrator hands it on."""

from django.conf import settings
from django.urls import reverse

SECONDS_PER_HOUR = 3600
HOURS = settings.PASSWORD_RESET_TIMEOUT // SECONDS_PER_HOUR


def link_of(code: str) -> str:
    """Return the link. What follows the mark is never sent, so no log on the way can keep it."""
    return f"{settings.BASE_URL}{reverse('set-password')}#{code}"
