"""The audit: append-only events in chains, each carrying the SHA-256 of the one before."""

import hashlib
import ipaddress
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.utils import timezone
from uuid_utils.compat import uuid7

from agent_access.database.transactions import relaxed_commit
from agent_access.errors import UnauthenticatedError
from agent_access.keys import to_key
from agent_access.models.audit import ADMINISTRATION, AuditEvent, ChainHead, Transport
from agent_access.request_facts import current_facts

OK = "ok"
# The least that an IPv6 subscriber is given, who may use any address in it (ADR 11).
IPV6_PREFIX = 64
REVOKED = "connection:revoked"
# Those over which agents call.
CALL_TRANSPORTS = (Transport.HTTP, Transport.MCP)

# PostgreSQL appends in one statement, so that the head is locked as briefly as possible. It
# computes the digest of the same text as `digest_event`, since it alone knows the previous one.
APPEND = """
    WITH {relaxed} moved AS (
        UPDATE agent_access_chainhead SET
            sequence = sequence + 1,
            digest = encode(sha256(convert_to(
                '["' || digest || '",' || %(before)s::text || ',' || (sequence + 1) || ','
                || %(after)s::text || ']',
                'UTF8'
            )), 'hex'),
            last_used_at = COALESCE(%(used_at)s, last_used_at)
        {from_relaxed}
        WHERE chain = %(chain)s AND (is_open OR %(also_closed)s)
        RETURNING sequence, digest
    )
    INSERT INTO agent_access_auditevent (
        sequence, digest, id, chain, occurred_at, actor_id, connection_id, action, target, outcome,
        detail, transport, request_id, client_address, content_digest
    )
    SELECT
        moved.sequence, moved.digest, %(id)s, %(chain)s, %(occurred_at)s, %(actor_id)s::uuid,
        %(connection_id)s::uuid, %(action)s, %(target)s, %(outcome)s, %(detail)s, %(transport)s,
        %(request_id)s, %(client_address)s, %(content_digest)s
    FROM moved
"""
APPEND_STRICTLY = APPEND.format(relaxed="", from_relaxed="")
# A relaxed event is a transaction by itself, whose commit does not wait for the disk.
APPEND_RELAXED = APPEND.format(
    relaxed="relaxed AS (SELECT set_config('synchronous_commit', 'off', true)),",
    from_relaxed="FROM relaxed",
)

# An event's values by column; a new event has no sequence and digest yet.
Columns = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a call or an act of administration came from."""

    transport: Transport
    request_id: str = ""
    client_address: str = ""

    @property
    def client_network(self) -> str:
        """Return what limits count as one address: for IPv6 its /64 (ADR 11)."""
        if ":" not in self.client_address:
            return self.client_address
        return str(ipaddress.ip_network((self.client_address, IPV6_PREFIX), strict=False))


def make_origin(transport: Transport) -> Origin:
    """Return the origin of the current request, with the client address that the gate found."""
    facts = current_facts()
    return Origin(
        transport=transport, request_id=facts.request_id, client_address=facts.client_address
    )


@dataclass(frozen=True)
class Actor:
    """Who acts, and from where; `id` is None where no user is known, as at the command line.

    It is the user's primary key, or the key by which a connection knows its approver.

    `session_revision` is that of the web session in which they act; None where there is none.
    """

    origin: Origin
    id: Any = None
    session_revision: int | None = None


SYSTEM = Origin(transport=Transport.COMMAND)
OPERATOR = Actor(SYSTEM)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """The content of an event: `outcome` is `ok` or an error code; no record's text, no secret.

    `content_digest` is the SHA-256, in hexadecimal, of what the act was about, where it is about
    something that evidence has to show unchanged.
    """

    action: str
    origin: Origin
    actor_id: Any = None
    connection_id: UUID | None = None
    target: str = ""
    outcome: str = OK
    detail: str = ""
    content_digest: str = ""


def open_chain(chain: str) -> None:
    """Create the head of a new chain."""
    ChainHead.objects.create(chain=chain)


def close_chains(chains: Collection[str]) -> None:
    """Let no more successful calls commit on these chains; waits for those in flight."""
    ChainHead.objects.filter(chain__in=chains).update(is_open=False)


def record_call(fact: Fact, *, relaxed: bool = False) -> None:
    """Append a successful call; raise UnauthenticatedError if the connection was revoked meanwhile.

    Locks the chain's head row, the last lock that a call takes. A relaxed event is committed by
    itself, without waiting for the disk.
    """
    if not _append(fact, only_open=True, relaxed=relaxed):
        raise UnauthenticatedError


def record_refusal(fact: Fact, *, relaxed: bool = False) -> None:
    """Append a refused call to the connection's chain, even if that is closed."""
    _append(fact, relaxed=relaxed)


def record_decisions(facts: Sequence[Fact]) -> None:
    """Append a person's decisions about one connection's work, even if the chain is closed."""
    _require_transaction()
    chain = str(facts[0].connection_id)
    _append_all(ChainHead.objects.select_for_update().get(chain=chain), facts)


def make_act(
    action: str, by: Actor, *, connection_id: UUID | None = None, target: str = "", **more: str
) -> Fact:
    """Return an act of administration; its target is the connection if not named."""
    return Fact(
        action=action,
        origin=by.origin,
        actor_id=by.id,
        connection_id=connection_id,
        target=target or str(connection_id or ""),
        **more,
    )


def record_act(action: str, by: Actor, **told: Any) -> None:
    """Append an act, with what else `make_act` takes, to the administration chain."""
    record_acts([make_act(action, by, **told)])


def record_acts(facts: Iterable[Fact]) -> None:
    """Append acts to the administration chain."""
    _append_all(lock_administration(), facts)


def _append_all(head: ChainHead, facts: Iterable[Fact]) -> None:
    """Append events behind a locked head, in few statements."""
    events = [_link(head, _make_event(head.chain, fact)) for fact in facts]
    head.save(update_fields=("sequence", "digest"))
    AuditEvent.objects.bulk_create(events)


def lock_administration() -> ChainHead:
    """Lock the administration chain until the transaction ends; always before any other chain."""
    _require_transaction()
    return ChainHead.objects.select_for_update().get_or_create(chain=ADMINISTRATION)[0]


def _append(fact: Fact, *, only_open: bool = False, relaxed: bool = False) -> bool:
    """Advance the head and insert the event; return False if the chain is closed to it."""
    if not relaxed:
        _require_transaction()
    event = _make_event(str(fact.connection_id), fact)
    if connection.vendor == "postgresql":
        is_appended = _append_in_one_statement(event, only_open=only_open, relaxed=relaxed)
    else:
        with relaxed_commit() if relaxed else nullcontext():
            is_appended = _append_in_steps(event, only_open=only_open)
    if not is_appended:
        ChainHead.objects.get(chain=event["chain"])  # a missing head is a bug: DoesNotExist
    return is_appended


def _require_transaction() -> None:
    if not connection.in_atomic_block:
        raise RuntimeError("an audit event belongs to a transaction")


def _make_event(chain: str, fact: Fact) -> Columns:
    return {
        "id": uuid7(),
        "chain": chain,
        "occurred_at": timezone.now(),
        "actor_id": to_key(fact.actor_id),
        "connection_id": fact.connection_id,
        "action": fact.action,
        "target": fact.target,
        "outcome": fact.outcome,
        "detail": fact.detail,
        "transport": str(fact.origin.transport),
        "request_id": fact.origin.request_id,
        "client_address": fact.origin.client_address,
        "content_digest": fact.content_digest or None,
    }


def _append_in_one_statement(event: Columns, *, only_open: bool, relaxed: bool) -> bool:
    before, after = _serialize_facts(event)
    parameters = {
        **event,
        "before": before,
        "after": after,
        "used_at": _minute_of_use(event),
        "also_closed": not only_open,
    }
    with connection.cursor() as cursor:
        cursor.execute(APPEND_RELAXED if relaxed else APPEND_STRICTLY, parameters)
        return bool(cursor.rowcount == 1)


def _append_in_steps(event: Columns, *, only_open: bool) -> bool:
    """Append on SQLite, where the transaction has locked the whole database anyway."""
    head = ChainHead.objects.get(chain=event["chain"])
    if only_open and not head.is_open:
        return False
    added = _link(head, event)
    moved = ChainHead.objects.filter(chain=head.chain, sequence=head.sequence - 1).update(
        sequence=head.sequence,
        digest=head.digest,
        last_used_at=_minute_of_use(event) or head.last_used_at,
    )
    if not moved:
        raise RuntimeError("an audit chain moved under its lock")
    added.save(force_insert=True)
    return True


def _link(head: ChainHead, event: Columns) -> AuditEvent:
    """Return the event that follows the head, and let the head stand for it; neither is saved."""
    added = AuditEvent(**event, sequence=head.sequence + 1)
    added.digest = digest_event(added, previous_digest=head.digest)
    head.sequence, head.digest = added.sequence, added.digest
    return added


def _minute_of_use(event: Columns) -> datetime | None:
    """Return the minute of an agent's call; None for an act of a person, which is no use."""
    if event["transport"] not in CALL_TRANSPORTS:
        return None
    occurred_at: datetime = event["occurred_at"]
    return occurred_at.replace(second=0, microsecond=0)


def digest_event(event: AuditEvent, *, previous_digest: str) -> str:
    """Return the SHA-256 of the previous digest and every stored fact, in hexadecimal."""
    return digest_columns(vars(event), previous_digest=previous_digest)


def digest_columns(event: Columns, *, previous_digest: str) -> str:
    """Return the same of an event that was read as its values by column."""
    before, after = _serialize_facts(event)
    text = f'["{previous_digest}",{before},{event["sequence"]},{after}]'
    return hashlib.sha256(text.encode()).hexdigest()


def _serialize_facts(event: Columns) -> tuple[str, str]:
    """Return the event's facts as JSON: those that precede its sequence, and those that follow.

    Stored events are verified by this too, so nothing here may change. A new fact is appended
    last, with its name ({"name": ...}), and only where it is set.
    """
    before: list[Any] = [event["id"], event["chain"]]
    after: list[Any] = [
        event["occurred_at"].astimezone(UTC),
        event["actor_id"],
        event["connection_id"],
        event["action"],
        event["target"],
        event["outcome"],
        event["detail"],
        str(event["transport"]),
        event["request_id"],
        event["client_address"],
    ]
    if event["content_digest"]:
        after.append({"content_digest": event["content_digest"]})
    return _serialize_members(before), _serialize_members(after)


def _serialize_members(values: list[Any]) -> str:
    return orjson.dumps(values, option=orjson.OPT_UTC_Z)[1:-1].decode()
