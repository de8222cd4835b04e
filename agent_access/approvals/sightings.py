"""What a person saw of a record before, so that the review page shows what differs from that."""

from dataclasses import dataclass
from datetime import datetime
from logging import getLogger

import orjson
from django.db import DatabaseError, transaction

from agent_access.approvals.models import ApprovalRequest, Decision, Sighting
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.facts import Facts

logger = getLogger(__name__)


@dataclass(frozen=True)
class Seen:
    """The facts that a person last looked at, or rejected, in another request; and when."""

    at: datetime
    is_rejected: bool
    facts: Facts


def look_at(snapshot: ApprovalSnapshot) -> None:
    """Keep that its person sees the request now; where that fails, they see it all the same.

    A request that is looked at again changes nothing: it goes on being compared with the same.
    """
    approval = snapshot.approval
    try:
        with transaction.atomic():
            _keep(approval, snapshot.now)
    except DatabaseError:  # as when two pages of the same are opened at once
        logger.warning("the sighting of a request was not kept", exc_info=True)


def _keep(approval: ApprovalRequest, now: datetime) -> None:
    last = _sighting_of(approval)
    if last is None:
        Sighting.objects.create(
            person_id=approval.delegated_user_id,
            kind=approval.kind,
            target=approval.target,
            shown=approval,
            shown_at=now,
        )
    elif last.shown_id != approval.pk:
        # Only over what was read: another page may have been opened meanwhile.
        Sighting.objects.filter(pk=last.pk, shown=last.shown_id).update(
            shown=approval, shown_at=now, before=last.shown_id, before_at=last.shown_at
        )


def find_seen(approval: ApprovalRequest) -> Seen | None:
    """Return what its person last saw or rejected of the record, besides this very request."""
    # Of the same moment, the rejection counts: it is what the person said.
    found = [each for each in (_find_rejected(approval), _find_looked_at(approval)) if each]
    return max(found, key=lambda seen: seen.at, default=None)


def _find_looked_at(approval: ApprovalRequest) -> Seen | None:
    last = _sighting_of(approval)
    if last is None:
        return None
    if last.shown_id != approval.pk:
        return Seen(last.shown_at, is_rejected=False, facts=orjson.loads(last.shown.facts))
    if last.before is None or last.before_at is None:
        return None
    return Seen(last.before_at, is_rejected=False, facts=orjson.loads(last.before.facts))


def _sighting_of(approval: ApprovalRequest) -> Sighting | None:
    own = Sighting.objects.filter(
        person=approval.delegated_user_id, kind=approval.kind, target=approval.target
    )
    # There is one at most; in the order of IDs, which first() wants, PostgreSQL would read others.
    return next(iter(own.select_related("shown", "before")), None)


def _find_rejected(approval: ApprovalRequest) -> Seen | None:
    rejected = ApprovalRequest.objects.filter(
        delegated_user=approval.delegated_user_id,
        kind=approval.kind,
        target=approval.target,
        decision=Decision.REJECTED,
    )
    last = rejected.exclude(pk=approval.pk).order_by("-decided_at").first()
    if last is None or last.decided_at is None:
        return None
    return Seen(last.decided_at, is_rejected=True, facts=orjson.loads(last.facts))
