"""Approvals as questions to a person, for whoever tells people what waits for them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from agent_access.approvals.descriptions import format_clock
from agent_access.approvals.engine import approvals_of_ended_connections, read_approval
from agent_access.approvals.errors import ApprovalNotFoundError
from agent_access.approvals.inbox import visible_to
from agent_access.approvals.kinds import kinds
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.waiting import Told, shorten_name


class Approvals:
    """The subject of requests for approval: the inbox itself shows those that wait."""

    def tell(self, pk: UUID, person: Any, *, now: datetime) -> Told | None:
        """Return what the person reads of the request while it is the one to decide."""
        try:
            snapshot = read_approval(visible_to(person), pk, now=now)
        except ApprovalNotFoundError:
            return None
        is_over = not snapshot.is_undecided or snapshot.approval.replaced_at is not None
        if is_over or approvals_of_ended_connections([snapshot], person):
            return None
        return _describe(snapshot)

    def find_pending(self, person: Any, *, now: datetime) -> Iterable[Told]:
        return ()


def _describe(snapshot: ApprovalSnapshot) -> Told:
    approval = snapshot.approval
    kind = kinds.get(approval.kind)
    name = shorten_name(approval.connection_name)
    until = format_clock(approval.expires_at)
    return Told(
        title=_("%(name)s asks you to decide") % {"name": name},
        sentence=_("%(title)s: until %(until)s") % {"title": kind.words.title, "until": until},
        details=kind.details(snapshot),
        path=reverse("agent_approvals:review", args=[approval.pk]),
        expires_at=approval.expires_at,
    )
