"""How long the records of browser sign-in are kept.

While a connection lives, its codes and refresh tokens stay, so that a second use is noticed and
revokes it. Access tokens are not needed for that, and nothing is once the connection has ended.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from agent_access import audit
from agent_access.audit import OPERATOR, Actor, record_act
from agent_access.models.connections import Connection
from agent_access.oauth.models import AccessRequest, AccessToken, Application, Grant, RefreshToken

# By the words in which events count them, in the order in which they are deleted.
KINDS: Mapping[str, Any] = {
    "access tokens": AccessToken,
    "refresh tokens": RefreshToken,
    "codes": Grant,
    "access requests": AccessRequest,
}

TOKENS = ("access tokens", "refresh tokens", "codes")

# A client without a connection is one that no owner ever allowed.
CLIENT_KEPT_WITHOUT_CONNECTION = timedelta(days=30)
# Until then a client may still revoke its connection with it.
ACCESS_TOKEN_KEPT_AFTER_EXPIRY = timedelta(days=7)
KEPT_AFTER_CONNECTION = timedelta(days=30)
# What was asked of the owner is over long before, and is in the audit.
ACCESS_REQUEST_KEPT = timedelta(days=7)

# Rows deleted at most by a request that adds a client, and per transaction by a command.
SWEEP = 100
BATCH = 1000


def forget_unused_clients(at_most: int) -> int:
    """Delete the oldest clients that never got a connection and that nobody asks for; count them.

    Commits its own transaction: creating a connection locks the administration chain and then the
    client's row, so nobody may lock such a row first and then wait for the chain.
    """
    long_ago = timezone.now() - CLIENT_KEPT_WITHOUT_CONNECTION
    connected = Connection.objects.filter(client_id=OuterRef("client_id"))
    asked = AccessRequest.objects.filter(client=OuterRef("pk"))
    unused = Application.objects.filter(~Exists(connected), ~Exists(asked), created__lt=long_ago)
    return _delete_some(unused.order_by("created"), at_most)


def forget_old_tokens() -> Mapping[str, int]:
    """Delete codes, tokens and access requests that can show nothing any more; count each kind.

    Each batch is a transaction of its own, with its audit event: an interruption loses nothing, and
    nobody waits long.
    """
    now = timezone.now()
    ended = now - KEPT_AFTER_CONNECTION
    of_ended = Q(connection__expires_at__lt=ended) | Q(connection__revoked_at__lt=ended)
    expired = Q(expires__lt=now - ACCESS_TOKEN_KEPT_AFTER_EXPIRY)
    conditions = {
        "access tokens": expired | of_ended,
        "refresh tokens": of_ended,
        "codes": of_ended,
        "access requests": Q(asked_at__lt=now - ACCESS_REQUEST_KEPT),
    }
    return {kind: _delete_all(kind, condition) for kind, condition in conditions.items()}


def forget_tokens_of(client: Application, *, by: Actor) -> None:
    """Delete, in batches as well, the codes and tokens of the client's revoked connections."""
    for kind in TOKENS:
        _delete_all(kind, Q(application=client, connection__revoked_at__isnull=False), by)


def _delete_all(kind: str, condition: Q, by: Actor = OPERATOR) -> int:
    """Delete the rows; each batch is found before the lock, since that may read the whole table."""
    rows = KINDS[kind].objects.filter(condition)
    total, in_order = 0, rows.order_by("pk").values_list("pk", flat=True)
    while ids := list(in_order[:BATCH]):
        total += _delete_batch(kind, rows.filter(pk__in=ids), by)
    return total


@transaction.atomic
def _delete_batch(kind: str, rows: QuerySet[Any], by: Actor) -> int:
    """Delete some of a kind, under the lock of all who use them or delete their client.

    They refer to one another: two who delete them at the same time could deadlock.
    """
    audit.lock_administration()
    count = _delete_some(rows, BATCH)
    if count:
        record_act("tokens:forgotten", by, detail=f"{count} {kind}")
    return count


@transaction.atomic
def _delete_some(rows: QuerySet[Any], at_most: int) -> int:
    """Delete the first of the rows: lock them, then check once more that they still qualify.

    So a client that is just being allowed is either spared or, if its row is gone, not allowed.
    """
    ids = list(rows.select_for_update(of=("self",)).values_list("pk", flat=True)[:at_most])
    rows.filter(pk__in=ids).delete()
    return len(ids)
