"""How connections begin and end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop
from uuid_utils.compat import uuid7

from agent_access import approvers, audit, conf, signals
from agent_access.audit import OPERATOR, SYSTEM, Actor, Origin, record_act
from agent_access.credentials import digest_credential, make_credential
from agent_access.keys import to_key
from agent_access.models.audit import ChainHead
from agent_access.models.connections import NAME_LENGTH, Connection, ConnectionKind, RevokedReason
from agent_access.models.settings import AccessSettings
from agent_access.tools import registry
from agent_access.translations import SentenceError
from agent_access.visible_text import INVISIBLE

__all__ = [
    "ConnectionExistsError",
    "ConnectionNotAllowedError",
    "ConnectionRequest",
    "create_connection",
    "live_connections",
    "revoke_connection",
]

MIN_DAYS = 1
MAX_DAYS = 30
BATCH = 1000

# Why a connection may not be made.
ACCESS_OFF = gettext_noop("Agent access is off; the owner must turn it on first.")
BROWSER_SIGN_IN_OFF = gettext_noop("Browser sign-in is off; the owner must turn it on first.")
NO_OWNER = gettext_noop("There is no owner yet who could approve a connection.")
NOT_THE_OWNER = gettext_noop("Only the owner can approve a connection.")
NOT_A_DELEGATE = gettext_noop("You cannot let an agent act for that person.")
NOT_ACTIVE = gettext_noop("A connection acts only for an active person who is not a guest.")
SIGNED_OUT = gettext_noop("That person was signed out meanwhile; check, then try again.")
UNKNOWN_SCOPES = gettext_noop("Choose one or more of these scopes: %(scopes)s.")
WRONG_DAYS = gettext_noop("A connection lasts %(least)d to %(most)d days.")
# The length is NAME_LENGTH.
INVALID_NAME = gettext_noop(
    "A connection needs a name of 1 to 100 characters, without line breaks or invisible characters."
)


class ConnectionNotAllowedError(SentenceError):
    """A connection that may not be made; the message is a sentence for the owner."""


class ConnectionExistsError(Exception):
    """A connection with this ID exists: the same request was sent before."""


@dataclass(frozen=True, kw_only=True)
class ConnectionRequest:
    """What the `approver` approves: who is acted for, with which scopes, and for how many days.

    Without an approver, as at the command line, it is the policy's default one. Who chooses
    `connection_id` can repeat the request and still make one connection.
    """

    user: Any
    scopes: Sequence[str]
    days: int
    name: str
    approver: Any = None
    connection_id: UUID = field(default_factory=uuid7)

    @property
    def grants(self) -> list[str]:
        """The scopes as the connection keeps them: each once."""
        return list(dict.fromkeys(self.scopes))


@dataclass(frozen=True, kw_only=True)
class Consent(ConnectionRequest):
    """What the `approver` allowed an OAuth client in the browser; the name is the client's.

    `client_host` is that of its metadata document, or of the return address if it registered
    itself.
    """

    client_id: str
    client_host: str
    approver: Any = field()  # nobody else stands in


@transaction.atomic
def create_connection(
    request: ConnectionRequest, *, origin: Origin = SYSTEM
) -> tuple[Connection, str]:
    """Return a new connection and its credential, of which only the digest is stored.

    Raises ConnectionNotAllowedError, and ConnectionExistsError for an ID that is taken.
    """
    connection = _prepare(request, kind=ConnectionKind.PASTED)
    credential = make_credential()
    connection.credential_digest = digest_credential(credential)
    _open(connection, origin)
    return connection, credential


@transaction.atomic
def create_browser_connection(consent: Consent, *, origin: Origin) -> Connection:
    """Return a new connection that was approved in the browser.

    Raises ConnectionNotAllowedError, also if whoever consented may not approve or was signed out
    meanwhile, and ConnectionExistsError for an ID that is taken.
    """
    connection = _prepare(consent, kind=ConnectionKind.BROWSER)
    connection.client_id = consent.client_id
    connection.client_name = consent.name
    connection.client_host = consent.client_host
    _open(connection, origin)
    return connection


def require_allowed(consent: Consent) -> None:
    """Raise what `create_browser_connection` would raise for this consent.

    Makes nothing, and locks the settings row as that does.
    """
    _prepare(consent, kind=ConnectionKind.BROWSER)


def _prepare(request: ConnectionRequest, *, kind: ConnectionKind) -> Connection:
    """Return the unsaved connection, if it may be made at this moment.

    Locks the settings row, as does everything else that makes a connection, turns a switch or ends
    somebody's sessions: they wait for each other.
    """
    settings = AccessSettings.lock()
    if Connection.objects.filter(pk=request.connection_id).exists():
        raise ConnectionExistsError
    user = _reload(request.user)
    if kind == ConnectionKind.BROWSER and not settings.browser_sign_in_on:
        raise ConnectionNotAllowedError(BROWSER_SIGN_IN_OFF)
    approver = _find_approver(request)
    _check_request(request, user, settings)
    if not approvers.may_connect(approver, user):
        raise ConnectionNotAllowedError(NOT_A_DELEGATE)
    if not is_still_signed_in(request.user):  # let in again since, or not
        raise ConnectionNotAllowedError(SIGNED_OUT)
    now = timezone.now()
    return Connection(
        id=request.connection_id,
        kind=kind,
        name=request.name,
        user=user,
        grants=request.grants,
        owner_id=to_key(approver.pk),
        session_revision=conf.policy().session_revisions(user)[0],
        base_url=conf.base_url(),
        created_at=now,
        expires_at=now + timedelta(days=request.days),
    )


def _reload(user: Any) -> Any:
    """Return the user as stored now, or None."""
    return get_user_model()._default_manager.filter(pk=user.pk).first()  # noqa: SLF001  Django's public name for a swapped model's manager


def is_still_signed_in(seen: Any) -> bool:
    """Return whether a user's web sessions were not ended since the user was `seen`."""
    return reload_signed_in(seen) is not None


def reload_signed_in(seen: Any) -> Any | None:
    """Return the user as stored now, or None if their web sessions were ended since `seen`."""
    user, revisions = _reload(seen), conf.policy().session_revisions
    return user if user is not None and revisions(user)[0] == revisions(seen)[0] else None


def _open(connection: Connection, origin: Origin) -> None:
    connection.save(force_insert=True)
    audit.open_chain(str(connection.id))
    by = Actor(origin, connection.owner_id)
    record_act("connection:created", by, connection_id=connection.id)
    signals.send_on_commit(signals.connection_created, Connection, connection=connection)


def _find_approver(request: ConnectionRequest) -> Any:
    """Return who approves the connection, as stored now."""
    if request.approver is None:
        approver = conf.policy().default_approver()
        if approver is None:
            raise ConnectionNotAllowedError(NO_OWNER)
    else:
        approver = reload_signed_in(request.approver)
    if approver is None or not approvers.may_approve(approver):
        raise ConnectionNotAllowedError(NOT_THE_OWNER)
    return approver


def _check_request(request: ConnectionRequest, user: Any, settings: AccessSettings) -> None:
    if not settings.access_on:
        raise ConnectionNotAllowedError(ACCESS_OFF)
    if user is None or conf.policy().delegate_problem(user):
        raise ConnectionNotAllowedError(NOT_ACTIVE)
    unknown = set(request.scopes) - set(registry.scopes)
    if unknown or not request.scopes:
        raise ConnectionNotAllowedError(UNKNOWN_SCOPES, scopes=", ".join(registry.scopes))
    if not MIN_DAYS <= request.days <= MAX_DAYS:
        raise ConnectionNotAllowedError(WRONG_DAYS, least=MIN_DAYS, most=MAX_DAYS)
    if not _is_name(request.name):
        raise ConnectionNotAllowedError(INVALID_NAME)


def _is_name(name: str) -> bool:
    # Python calls printable what Unicode calls ignorable.
    is_seen = name.isprintable() and not INVISIBLE.search(name)
    return len(name) <= NAME_LENGTH and is_seen and name.strip() != ""


@transaction.atomic
def rename_connection(connection_id: UUID, *, name: str, by: Actor) -> None:
    """Give a connection another name, and audit that; what it made keeps the name of then.

    Raises ConnectionNotAllowedError for a name that none may have. One that it has already changes
    nothing.
    """
    if not _is_name(name):
        raise ConnectionNotAllowedError(INVALID_NAME)
    audit.lock_administration()  # before the connection's row, as whoever revokes it does
    renamed = Connection.objects.filter(pk=connection_id).exclude(name=name).update(name=name)
    if renamed:
        record_act("connection:renamed", by, connection_id=connection_id)


def live_connections() -> QuerySet[Connection]:
    """Return the connections that are neither revoked nor expired now."""
    return Connection.objects.filter(Connection.live_at(timezone.now()))


def ended_connections(user: Any) -> QuerySet[Connection]:
    """Return those of the user's connections by which no agent can act for them any more.

    They are revoked or expired, or will be revoked at their next call, for one of the reasons that
    `authentication.find_revocation_reason` knows.
    """
    policy = conf.policy()
    connections = Connection.objects.filter(user=user)
    if policy.delegate_problem(user):
        return connections
    live = connections.filter(
        Connection.live_at(timezone.now()),
        session_revision__in=policy.session_revisions(user),
        base_url=conf.base_url(),
    )
    return connections.exclude(pk__in=approvers.only_approved(live).values("pk"))


def revoke_connection(connection_id: UUID, *, reason: RevokedReason, by: Actor = OPERATOR) -> bool:
    """Revoke a connection; return False if it was not live any more."""
    named = Connection.objects.filter(pk=connection_id)
    return bool(revoke_connections(named, reason=reason, by=by))


@transaction.atomic
def revoke_connections(
    connections: QuerySet[Connection], *, reason: RevokedReason, by: Actor = OPERATOR
) -> int:
    """Revoke those of the connections that are not revoked yet; return how many were live.

    Closes their audit chains: a call in flight commits before that or not at all. Locks the
    administration chain first, so that two revocations cannot deadlock, and the second finds what
    the first has revoked.
    """
    audit.lock_administration()
    pending = connections.filter(revoked_at=None).order_by("id")
    expiries = dict(pending.values_list("id", "expires_at"))
    ids, now = list(expiries), timezone.now()
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        audit.close_chains([str(each) for each in batch])
        # Not `now`: calls in flight, for which this waited, may have ended after it.
        Connection.objects.filter(pk__in=batch).update(
            revoked_at=timezone.now(), revoked_reason=reason
        )
        audit.record_acts(
            audit.make_act(audit.REVOKED, by, connection_id=each, detail=reason) for each in batch
        )
        for each in batch:
            signals.send_on_commit(
                signals.connection_ended, Connection, connection_id=each, reason=reason
            )
    return sum(now < expires_at for expires_at in expiries.values())


def wait_for_calls(connections: QuerySet[Connection]) -> None:
    """Wait for the calls in flight by these connections, before a right of theirs is withdrawn.

    Later ones wait until this transaction ends, and then look again at what they may do. Locks the
    administration chain first, as whoever revokes them does.
    """
    audit.lock_administration()
    heads = ChainHead.objects.order_by("chain").select_for_update()
    chains = sorted(str(pk) for pk in connections.values_list("pk", flat=True))
    for start in range(0, len(chains), BATCH):
        len(heads.filter(chain__in=chains[start : start + BATCH]))
