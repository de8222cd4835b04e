"""The owner's switch of browser sign-in."""

from django.db import transaction

from agent_access.audit import OPERATOR, Actor, record_act
from agent_access.connections import revoke_connections
from agent_access.models.connections import Connection, ConnectionKind, RevokedReason
from agent_access.models.settings import AccessSettings


@transaction.atomic
def turn_sign_in_on(*, by: Actor = OPERATOR) -> None:
    """Let clients ask; revives no connection."""
    settings = AccessSettings.lock()
    AccessSettings.objects.update(browser_sign_in_on=True)
    if not settings.browser_sign_in_on:
        record_act("browser_sign_in:turned_on", by)


@transaction.atomic
def turn_sign_in_off(*, by: Actor = OPERATOR) -> int:
    """Answer no client any more and revoke all browser connections; return how many."""
    settings = AccessSettings.lock()
    AccessSettings.objects.update(browser_sign_in_on=False)
    revoked = revoke_connections(
        Connection.objects.filter(kind=ConnectionKind.BROWSER),
        reason=RevokedReason.BROWSER_SIGN_IN_OFF,
        by=by,
    )
    if settings.browser_sign_in_on:
        record_act("browser_sign_in:turned_off", by)
    return revoked
