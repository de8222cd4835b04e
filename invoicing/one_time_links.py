"""The link with which a person uses a one-time code to choose a password."""

from django.conf import settings
from django.urls import reverse

SECONDS_PER_HOUR = 3600
HOURS = settings.PASSWORD_RESET_TIMEOUT // SECONDS_PER_HOUR


def link_of(code: str) -> str:
    """Return the link; browsers do not send what follows the "#", so no log can keep the code."""
    return f"{settings.BASE_URL}{reverse('set-password')}#{code}"
