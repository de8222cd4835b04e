"""The connections of an OAuth client, and its deletion by the owner."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from agent_access import audit
from agent_access.audit import Actor, record_act
from agent_access.connections import ConnectionNotAllowedError, revoke_connections
from agent_access.models import AccessSettings, Connection, RevokedReason
from agent_access.oauth.models import Application

CLIENT_DELETED = gettext_noop("The client was deleted meanwhile.")


def connections_of(client: Application) -> QuerySet[Connection]:
    return Connection.objects.filter(client_id=client.client_id)


def lock_client(client: Application) -> None:
    """Let no sweep of unused clients take it before what refers to it can be seen.

    Raises ConnectionNotAllowedError if it is gone. Locked after the administration chain.
    """
    locked = Application.objects.select_for_update(no_key=True)
    if locked.filter(pk=client.pk).first() is None:
        raise ConnectionNotAllowedError(CLIENT_DELETED)


def end_connections_of(client: Application, *, by: Actor) -> int:
    """Revoke the client's connections; return how many were live. They stay as evidence."""
    return revoke_connections(connections_of(client), reason=RevokedReason.OWNER_REVOKED, by=by)


@transaction.atomic
def delete_client(client: Application, *, by: Actor) -> int:
    """Revoke the client's connections, then delete it with its codes and tokens.

    Returns how many of the connections were live. Consents wait for the settings row, and uses of
    codes and tokens for the administration chain, so none of them can come in between.
    """
    AccessSettings.lock()
    audit.lock_administration()
    if not Application.objects.filter(pk=client.pk).exists():
        return 0  # deleted and audited already, as after a double click
    ended = end_connections_of(client, by=by)
    record_act("client:deleted", by, target=client.audit_target)
    client.delete()
    return ended
