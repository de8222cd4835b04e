"""System checks of passkeys."""

from collections.abc import Iterator
from typing import Any

from django.core import checks

from agent_access.passkeys.sites import can_have_passkeys


@checks.register(checks.Tags.security)
def check_address(**kwargs: Any) -> Iterator[checks.CheckMessage]:
    """Warn of an address for which no browser makes a passkey."""
    if not can_have_passkeys():
        yield checks.Warning(
            "BASE_URL cannot have passkeys: browsers need https and a name, not an IP address.",
            hint="Set BASE_URL to https and a name for which the service has a certificate.",
            id="agent_passkeys.W002",
        )
