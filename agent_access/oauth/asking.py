"""A person asks the owner for a client that acts for them, from wherever each of them is.

What is stored is the owner's decision, and no code. The asking page, in the same web session and
with the same request of the client, gets the code once, within five minutes of the decision. No
connection exists before that.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from typing_extensions import override

from agent_access import approvers, audit, conf, waiting
from agent_access.audit import Actor, Origin, record_act
from agent_access.connections import (
    NOT_THE_OWNER,
    SIGNED_OUT,
    ConnectionNotAllowedError,
    Consent,
    reload_signed_in,
    require_allowed,
)
from agent_access.credentials import digest_credential
from agent_access.models import AccessSettings
from agent_access.oauth.authorization import (
    UNKNOWN_CLIENT,
    AuthorizationRequest,
    make_connection,
)
from agent_access.oauth.clients import lock_client
from agent_access.oauth.endpoints import is_sign_in_on
from agent_access.oauth.models import AccessRequest
from agent_access.oauth.paths import ACCESS_REQUEST
from agent_access.oauth.tokens import CODE_LIFETIME
from agent_access.tools import registry
from agent_access.translations import SentenceError
from agent_access.visible_text import mark_invisible

SUBJECT = "access_request"
TIME_TO_ANSWER = timedelta(minutes=15)
ASKS_PER_HOUR = 3
TOO_MANY_ASKS = gettext_noop("You can ask the owner three times an hour. Try again later.")

Decision = AccessRequest.Decision


class TooManyAsksError(SentenceError):
    """The person asked as often as anybody may within an hour."""


class NotOpenError(Exception):
    """The request was answered, withdrawn, or is over; or its code was made already."""


class State(StrEnum):
    PENDING = "pending"
    ALLOWED = "allowed"  # and the code is still to be made
    REFUSED = "refused"
    MINTED = "minted"
    OVER = "over"  # withdrawn, or not answered or not fetched in time


@dataclass(frozen=True, kw_only=True)
class Asker:
    """A person in one web session."""

    person: Any
    session_key: str

    @property
    def session_digest(self) -> str:
        return digest_credential(self.session_key)


def find_approver(person: Any) -> Any | None:
    """Return whom the person may ask to let an agent act for them, or None."""
    approver = conf.policy().default_approver()
    if approver is None or not approvers.may_approve(approver):
        return None
    is_fit = not conf.policy().delegate_problem(person) and approvers.may_connect(approver, person)
    return approver if is_fit else None


def find_own_scopes(person: Any, scopes: Iterable[str]) -> list[str]:
    """Return those of the scopes by which the person could use a tool."""
    own = {tool.scope for tool in registry if person.has_perms(tool.permissions)}
    return [scope for scope in scopes if scope in own]


def state_of(asked: AccessRequest, *, now: datetime) -> State:
    if asked.minted_at is not None:
        return State.MINTED
    if asked.decision == Decision.REFUSED:
        return State.REFUSED
    if not asked.decision and now < asked.expires_at:
        return State.PENDING
    decided_at = asked.decided_at
    if asked.decision == Decision.ALLOWED and decided_at and now < decided_at + CODE_LIFETIME:
        return State.ALLOWED
    return State.OVER


def find_asked(authorization: AuthorizationRequest, asker: Asker) -> AccessRequest | None:
    """Return what the person asked last, if anything, in this session for this very request."""
    asked = AccessRequest.objects.filter(
        person=asker.person,
        client=authorization.client,
        request_digest=digest_credential(authorization.uri),
        session_digest=asker.session_digest,
    )
    return asked.order_by("-asked_at").first()


@transaction.atomic
def ask(
    authorization: AuthorizationRequest, asker: Asker, *, scopes: Sequence[str], days: int
) -> None:
    """Ask the owner, unless just that is being asked already; another open request is withdrawn.

    Raises ConnectionNotAllowedError for what could not be allowed now, and TooManyAsksError.
    """
    now, client, person = timezone.now(), authorization.client, asker.person
    asked = AccessRequest(
        person=person,
        client=client,
        request_digest=digest_credential(authorization.uri),
        session_digest=asker.session_digest,
        return_address=authorization.return_address,
        scopes=scopes,
        days=days,
        asked_at=now,
        expires_at=now + TIME_TO_ANSWER,
    )
    AccessSettings.lock()  # until whoever is asked is that no more
    approver = find_approver(person)
    if approver is None:
        raise ConnectionNotAllowedError(NOT_THE_OWNER)
    require_allowed(_make_consent(asked, approver=approver, scopes=scopes, days=days))
    audit.lock_administration()
    lock_client(client)
    before = find_asked(authorization, asker)
    if before is not None and state_of(before, now=now) == State.PENDING:
        return
    own = AccessRequest.objects.filter(person=person)
    if own.filter(asked_at__gt=now - timedelta(hours=1)).count() >= ASKS_PER_HOUR:
        raise TooManyAsksError(TOO_MANY_ASKS)
    own.filter(client=client, decision="").update(decision=Decision.WITHDRAWN, decided_at=now)
    asked.save(force_insert=True)
    _record("asked", asked, Actor(authorization.origin, person.pk))
    question = waiting.Question(
        subject=SUBJECT,
        pk=asked.pk,
        person_id=approver.pk,
        connection_id=None,
        tag=f"{SUBJECT.replace('_', '-')}:{asked.pk}",
        expires_at=asked.expires_at,
    )
    waiting.asked.send(AccessRequest, question=question)


@transaction.atomic
def allow(
    asked: AccessRequest, *, owner: Any, scopes: Sequence[str], days: int, origin: Origin
) -> None:
    """Store that the owner allowed it, with these terms, if a connection of them could be made now.

    Raises NotOpenError, and ConnectionNotAllowedError.
    """
    AccessSettings.lock()
    terms = {"allowed_scopes": list(scopes), "allowed_days": days}
    _decide(asked, Decision.ALLOWED, Actor(origin, owner.pk), owner, **terms)
    require_allowed(_make_consent(asked, approver=owner, scopes=scopes, days=days))
    if not asked.client.redirect_uri_allowed(asked.return_address):
        raise ConnectionNotAllowedError(UNKNOWN_CLIENT)


@transaction.atomic
def refuse(asked: AccessRequest, *, owner: Any, origin: Origin) -> None:
    """Store that the owner refused it; raises NotOpenError, and ConnectionNotAllowedError."""
    AccessSettings.lock()
    _decide(asked, Decision.REFUSED, Actor(origin, owner.pk), owner)
    current = reload_signed_in(owner)
    if current is None or not approvers.may_approve(current):
        raise ConnectionNotAllowedError(NOT_THE_OWNER)


def _decide(asked: AccessRequest, decision: Decision, by: Actor, owner: Any, **terms: Any) -> None:
    now = timezone.now()
    undecided = AccessRequest.objects.filter(pk=asked.pk, decision="", expires_at__gt=now)
    decided = undecided.update(
        decision=decision,
        decided_at=now,
        decided_by=owner,
        decider_revision=conf.policy().session_revisions(owner)[0],
        **terms,
    )
    if not decided:
        raise NotOpenError
    _record(decision, asked, by)


@transaction.atomic
def mint_code(asked: AccessRequest, authorization: AuthorizationRequest, person: Any) -> str:
    """Make the connection that the owner allowed, and its code; return the code.

    Raises NotOpenError unless it is allowed and was not minted yet, FatalClientError for a client
    that is gone, and ConnectionNotAllowedError if something else has changed since the decision.
    """
    AccessSettings.lock()
    now = timezone.now()
    allowed = AccessRequest.objects.filter(
        pk=asked.pk,
        decision=Decision.ALLOWED,
        decided_at__gt=now - CODE_LIFETIME,
        minted_at=None,
    )
    if not allowed.update(minted_at=now):
        raise NotOpenError
    decided: Any = AccessRequest.objects.select_related("client", "decided_by").get(pk=asked.pk)
    owner, decided.person = decided.decided_by, person
    if decided.decider_revision not in conf.policy().session_revisions(owner):
        raise ConnectionNotAllowedError(SIGNED_OUT)
    terms = {"scopes": decided.allowed_scopes, "days": decided.allowed_days}
    consent = _make_consent(decided, approver=owner, **terms)
    code = make_connection(authorization, consent, decided_at=decided.decided_at)
    _record("minted", decided, Actor(authorization.origin, person.pk), connection_id=decided.pk)
    return code


def _make_consent(
    asked: AccessRequest, *, approver: Any, scopes: Sequence[str], days: int
) -> Consent:
    return Consent(
        connection_id=asked.pk,
        approver=approver,
        user=asked.person,
        scopes=scopes,
        days=days,
        name=asked.client.name,
        client_id=asked.client.client_id,
        client_host=asked.client_host,
    )


def _record(what: str, asked: AccessRequest, by: Actor, **more: Any) -> None:
    """Append the event; its detail is the request's ID, which the connection gets, too."""
    target = asked.client.audit_target
    record_act(f"access_request:{what}", by, target=target, detail=str(asked.pk), **more)


def asked_of(owner: Any) -> QuerySet[AccessRequest]:
    """Return what people asked whom this approver may connect agents to."""
    people = conf.policy().delegates(owner).order_by()
    asked = AccessRequest.objects.filter(person__in=people)
    return asked.select_related("client", "person")


class AccessRequests(waiting.Subject):
    """What the owner reads of these requests, in the inbox and wherever they are told."""

    @override
    def tell(self, pk: UUID, person: Any, *, now: datetime) -> waiting.Told | None:
        return next(iter(self._find(person, now=now, pk=pk)), None)

    @override
    def find_pending(self, person: Any, *, now: datetime) -> list[waiting.Told]:
        return self._find(person, now=now)

    def _find(self, person: Any, *, now: datetime, **wanted: Any) -> list[waiting.Told]:
        if not (is_sign_in_on() and approvers.may_approve(person)):
            return []
        pending = asked_of(person).filter(decision="", expires_at__gt=now, **wanted)
        return [_tell(asked) for asked in pending.order_by("expires_at")]


def _tell(asked: AccessRequest) -> waiting.Told:
    person = mark_invisible(str(asked.person))
    return waiting.Told(
        title=gettext("Somebody asks for access"),
        sentence=gettext("%(person)s asks you to let a client act for them.") % {"person": person},
        details=f"{asked.client_host}: {waiting.shorten_name(asked.client.name)}",
        path=reverse(ACCESS_REQUEST, args=[asked.pk]),
        expires_at=asked.expires_at,
    )
