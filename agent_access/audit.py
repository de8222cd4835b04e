"""The audit: append-only events in chains, each carrying the SHA-256 of the one before."""

import hashlib
import ipaddress
from dataclasses import dataclass
from datetime import UTC
from uuid import UUID

import orjson
from django.db import transaction
from django.utils import timezone

from agent_access.errors import UnauthenticatedError
from agent_access.models.audit import ADMINISTRATION, AuditEvent, ChainHead, Transport

OK = "ok"
# What one subscriber of IPv6 is given at least, and hops about in as he likes.
IPV6_PREFIX = 64
REVOKED = "connection:revoked"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a call or an act of administration came from."""

    transport: Transport
    request_id: str = ""
    client_address: str = ""

    @property
    def client_network(self) -> str:
        """Return what limits count as one address: of IPv6 its /64. The audit keeps the address."""
        if ":" not in self.client_address:
            return self.client_address
        return str(ipaddress.ip_network((self.client_address, IPV6_PREFIX), strict=False))


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What an event says. `outcome` is `ok` or an error code; no document text, no secret."""

    action: str
    origin: Origin
    actor_id: UUID | None = None
    connection_id: UUID | None = None
    target: str = ""
    outcome: str = OK
    detail: str = ""


def open_chain(chain: str) -> None:
    """Begin a chain, if it has not begun."""
    ChainHead.objects.bulk_create([ChainHead(chain=chain)], ignore_conflicts=True)


def close_chain(chain: str) -> None:
    """Let no further successful call commit on this chain; waits for the one that is committing."""
    ChainHead.objects.filter(chain=chain).update(is_open=False)


def record_call(fact: Fact) -> None:
    """Append a successful call; raise UnauthenticatedError if the connection was revoked meanwhile.

    Locks the connection's head row, the last lock of a call.
    """
    head = _lock_head(str(fact.connection_id))
    if not head.is_open:
        raise UnauthenticatedError
    _append(head, fact)


def record_refusal(fact: Fact) -> None:
    """Append a refused call to the connection's chain, open or closed."""
    _append(_lock_head(str(fact.connection_id)), fact)


def record_decision(fact: Fact) -> None:
    """Append what a person decided about the connection's work, open or closed."""
    _append(_lock_head(str(fact.connection_id)), fact)


def record_administration(fact: Fact) -> None:
    """Append a switch, or the making or ending of a connection."""
    _append(lock_administration(), fact)


def lock_administration() -> ChainHead:
    """Make acts of administration wait for each other; taken before any connection's chain."""
    open_chain(ADMINISTRATION)
    return _lock_head(ADMINISTRATION)


def _lock_head(chain: str) -> ChainHead:
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("an audit event belongs to a transaction")
    return ChainHead.objects.select_for_update().get(chain=chain)


def _append(head: ChainHead, fact: Fact) -> None:
    now = timezone.now()
    event = AuditEvent(
        chain=head.chain,
        sequence=head.sequence + 1,
        occurred_at=now,
        actor_id=fact.actor_id,
        connection_id=fact.connection_id,
        action=fact.action,
        target=fact.target,
        outcome=fact.outcome,
        detail=fact.detail,
        transport=fact.origin.transport,
        request_id=fact.origin.request_id,
        client_address=fact.origin.client_address,
    )
    event.digest = digest_event(event, previous_digest=head.digest)
    moved = ChainHead.objects.filter(chain=head.chain, sequence=head.sequence).update(
        sequence=event.sequence,
        digest=event.digest,
        last_used_at=now.replace(second=0, microsecond=0),
    )
    if not moved:
        raise RuntimeError("an audit chain moved under its lock")
    event.save(force_insert=True)


def digest_event(event: AuditEvent, *, previous_digest: str) -> str:
    """Return the SHA-256 over the digest before and every stored fact, in hexadecimal."""
    facts = [
        previous_digest,
        event.id,
        event.chain,
        event.sequence,
        event.occurred_at.astimezone(UTC),
        event.actor_id,
        event.connection_id,
        event.action,
        event.target,
        event.outcome,
        event.detail,
        str(event.transport),
        event.request_id,
        event.client_address,
    ]
    return hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_UTC_Z)).hexdigest()
