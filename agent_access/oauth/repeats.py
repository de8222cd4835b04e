"""A consent that is sent again, as by a double click: one connection, with its latest code."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from agent_access import audit
from agent_access.approvers import find_approved
from agent_access.audit import Actor, Origin, record_act
from agent_access.authentication import still_holds
from agent_access.connections import Consent
from agent_access.credentials import digest_credential
from agent_access.keys import to_key
from agent_access.models.connections import Connection
from agent_access.oauth.models import Grant
from agent_access.oauth.tokens import CODE_LIFETIME, make_code


class AlreadyAnsweredError(Exception):
    """The code was exchanged already, or the connection was made with other terms."""


def renew_code(consent: Consent, *, origin: Origin) -> str:
    """Replace the unused code of the connection that this consent made; return the new one.

    The browser follows only the last answer, so the code in the one before reached nobody. Raises
    AlreadyAnsweredError.
    """
    code = _renew(consent, origin)
    if code is None:
        # Raised only now: it would roll back the revocation of a connection that had to end.
        raise AlreadyAnsweredError
    return code


@transaction.atomic
def _renew(consent: Consent, origin: Origin) -> str | None:
    """Lock the administration chain, as does every use of a code, and renew it if that may be."""
    audit.lock_administration()
    unused = Grant.objects.filter(connection_id=consent.connection_id, consumed_at=None)
    grant = unused.select_related("connection__user").first()
    if grant is None or not _matches(grant.connection, consent):
        return None
    is_approved = bool(find_approved([grant.connection]))
    if not still_holds(grant.connection, is_approved=is_approved, origin=origin):
        return None
    code = make_code()
    expires = timezone.now() + CODE_LIFETIME
    unused.update(code=digest_credential(code), expires=expires)
    by = Actor(origin, consent.approver.pk)
    record_act("code:renewed", by, connection_id=consent.connection_id)
    return code


def _matches(connection: Connection, consent: Consent) -> bool:
    return (
        connection.user == consent.user
        and connection.owner_id == to_key(consent.approver.pk)
        and connection.grants == consent.grants
        and connection.expires_at - connection.created_at == timedelta(days=consent.days)
    )
