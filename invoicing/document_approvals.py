"""The approvals of one document: what its own pages say of the requests to issue it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import orjson

from agent_access.approvals.engine import approvals_of_ended_connections, read_approvals
from agent_access.approvals.inbox import (
    PAGE_LENGTH,
    by_ended_connections,
    cards_for,
    visible_to,
)
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.states import ApprovalState
from agent_access.models import Connection, Receipt
from invoicing.models import Document, User
from invoicing.services.document_facts import Facts

# The kind of these approvals, whose name is kept with each; it is also that of the tool.
ISSUE = "documents.issue"

# So many requests for drafts that look the same, the newest, are looked at.
ALIKE_READ = 25
USABLE = {ApprovalState.PENDING, ApprovalState.APPROVED}

# A connection that asks oftener than so many times in so many minutes asks often.
OFTEN = {10: 10, 60: 30}
# So many of its requests, the newest, are counted.
COUNTED = 100
YOUNG = timedelta(days=1)

# In lists of documents: more than a person decides within the window of a request.
MOST_WAITING = 500
MOST_NAMED = 50

# Where the history of a draft is read.
UPDATE = "drafts.update"
MOST_ASKED = 25
MOST_AGENTS = 3
UPDATES_READ = 200


@dataclass(frozen=True)
class Rejection:
    """When a person rejected the issue of a draft, their reason if any, and the facts they saw."""

    decided_at: datetime
    reason: str
    facts: Facts


@dataclass(frozen=True)
class Asking:
    """How a connection came to ask, if that is unusual.

    `times` is how often it asked within `minutes` until then, this time included, at most one more
    than COUNTED. `connected_at` is set if that was less than a day before.
    """

    asked_at: datetime
    connected_at: datetime | None
    times: int = 0
    minutes: int = 0


def find_executed(document: Document) -> ApprovalRequest | None:
    """Return the approval by which the document was issued, or None if a person issued it."""
    executed = ApprovalRequest.objects.filter(
        kind=ISSUE, target=document.pk, executed_at__isnull=False
    )
    return executed.select_related("delegated_user").first()


def read_pending_of(user: User, document: Document, *, now: datetime) -> list[ApprovalSnapshot]:
    """Return what each connection asks of one draft and can be decided now, the newest first.

    They are those of one page: were they the oldest, stale ones could hide all others.
    """
    asked = cards_for(user, now=now).filter(kind=ISSUE, target=document.pk)
    found = read_approvals(asked.order_by("-pk")[:PAGE_LENGTH], now=now)
    return [each for each in found if each.state == ApprovalState.PENDING]


def read_decisions_on(user: User, document: Document, *, now: datetime) -> list[ApprovalSnapshot]:
    """Return what the person decided of a draft as it is now, the newest decision first.

    These are the approvals that can still be used, as many as a page has; if there is none, the
    last decision, if that is a rejection.
    """
    decided = visible_to(user).filter(
        kind=ISSUE,
        target=document.pk,
        target_version=document.lock_version,
        decided_at__isnull=False,
    )
    newest = decided.exclude(by_ended_connections(user)).order_by("-decided_at")
    approved = newest.filter(
        decision=Decision.APPROVED, expires_at__gt=now, executed_at__isnull=True
    )
    usable = read_approvals(approved[:PAGE_LENGTH], now=now)
    last = read_approvals(newest[:1], now=now)
    return [each for each in usable if each.state == ApprovalState.APPROVED] or [
        each for each in last if each.state == ApprovalState.REJECTED
    ]


def find_alike(user: User, draft: Document, *, now: datetime) -> ApprovalSnapshot | None:
    """Return the newest usable approval of another draft with this total for the customer.

    It is one of this person alone: of others' they know nothing.
    """
    unused = (
        ApprovalRequest.objects.asked_of(user)
        .standing()
        .filter(kind=ISSUE, expires_at__gt=now, executed_at__isnull=True)
    )
    # By themselves: SQLite would begin with all documents of the customer.
    asked = dict(unused.exclude(target=draft.pk).values_list("pk", "target"))
    # The drafts are the customer's, whom the person can see.
    alike = Document.objects.filter(
        pk__in=asked.values(),
        customer=draft.customer_id,
        type=draft.type,
        currency_code=draft.currency_code,
        grand_total=draft.grand_total,
    )
    same = set(alike.values_list("pk", flat=True))
    newest = ApprovalRequest.objects.filter(pk__in=_newest(asked, same)).order_by("-pk")
    usable = [each for each in read_approvals(newest, now=now) if each.state in USABLE]
    given_up = approvals_of_ended_connections(usable, user)
    return next((each for each in usable if each.approval.pk not in given_up), None)


def _newest(asked: dict[UUID, UUID], targets: set[UUID]) -> list[UUID]:
    """Return the newest of the approvals whose target is one of these."""
    return sorted(pk for pk, target in asked.items() if target in targets)[-ALIKE_READ:]


def find_last_rejection(user: User, draft: Document) -> Rejection | None:
    """Return the last time that this person rejected the issue of the draft, in any version."""
    rejected = ApprovalRequest.objects.asked_of(user).filter(
        kind=ISSUE, target=draft.pk, decision=Decision.REJECTED
    )
    last = rejected.order_by("-decided_at").first()
    if last is None or last.decided_at is None:
        return None
    return Rejection(last.decided_at, last.rejection_reason, orjson.loads(last.facts))


def read_asking(approval: ApprovalRequest) -> Asking:
    """Return what is unusual about how a request was asked for."""
    asked_at = approval.prepared_at
    young = Connection.objects.filter(pk=approval.connection_id, created_at__gt=asked_at - YOUNG)
    connected_at = young.values_list("created_at", flat=True).first()
    newest = ApprovalRequest.objects.filter(
        connection_id=approval.connection_id, pk__lte=approval.pk
    ).order_by("-pk")
    moments = list(newest.values_list("prepared_at", flat=True)[: COUNTED + 1])
    for minutes, most in OFTEN.items():
        times = sum(each > asked_at - timedelta(minutes=minutes) for each in moments)
        if times > most:
            return Asking(asked_at, connected_at, times, minutes)
    return Asking(asked_at, connected_at)


def find_waiting_documents(user: User, *, now: datetime) -> dict[UUID, datetime]:
    """Return the drafts whose issue the person is asked to decide, and until when, by ID.

    Of more than MOST_WAITING requests, the first to expire. For several requests of one draft it is
    when the last of them expires.
    """
    asked = cards_for(user, now=now).filter(kind=ISSUE).order_by("expires_at", "pk")
    return dict(asked.values_list("target", "expires_at")[:MOST_WAITING])


def name_connections(user: User) -> list[tuple[UUID, str]]:
    """Return the newest connections that act for the person, with their names."""
    own = Connection.objects.filter(user=user).order_by("-pk")
    return list(own.values_list("pk", "name")[:MOST_NAMED])


def read_updates_by_agents(user: User, document: Document) -> list[tuple[datetime, str]]:
    """Return when agents that act for the person changed a draft, and how each is called.

    They are among the newest UPDATES_READ writes of each of the newest MOST_AGENTS connections that
    asked the person for its issue, or wrote it: no index leads from a document to its writes.
    """
    asked = ApprovalRequest.objects.asked_of(user).filter(kind=ISSUE, target=document.pk)
    newest = asked.order_by("-pk").values_list("connection_id", flat=True)[:MOST_ASKED]
    known = dict.fromkeys((document.connection_id, *newest))
    own = Connection.objects.filter(user=user, pk__in=list(known)).order_by("-pk")[:MOST_AGENTS]
    names = {each.pk: each.name for each in own}
    since = document.created_at
    newest_of_each = (
        Receipt.objects.filter(connection=pk, created_at__gte=since).order_by("-created_at")
        for pk in names
    )
    found = [
        (at, names[pk])
        for pk, rows in zip(names, newest_of_each, strict=True)
        for at, record_id, tool in rows.values_list("created_at", "record_id", "tool")[
            :UPDATES_READ
        ]
        if record_id == document.pk and tool == UPDATE
    ]
    return sorted(found)
