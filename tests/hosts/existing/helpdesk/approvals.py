"""What an agent does to a ticket only once its person has approved it."""

from collections.abc import Mapping
from typing import Any

from agent_access.approvals.kinds import ApprovalKind, Clock, Words
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.errors import ConflictError
from django.contrib.auth.models import User
from django.db.models import QuerySet
from typing_extensions import override

from helpdesk.models import Ticket


class CloseTicket(ApprovalKind[Ticket]):
    """To close a ticket for good."""

    name = "tickets.close"
    model = Ticket
    words = Words(title="Close a ticket", question="Close this ticket?", button="Close it")
    scope = "tickets:close"
    module = "tickets"
    permissions = ("helpdesk.close_ticket",)

    @override
    def visible_to(self, user: User) -> QuerySet[Ticket]:
        return Ticket.objects.filter(requester=user)

    @override
    def facts(self, target: Ticket) -> Mapping[str, Any]:
        return {"subject": target.subject, "body": target.body, "status": target.status}

    @override
    def check(self, target: Ticket) -> None:
        if target.status == Ticket.Status.CLOSED:
            raise ConflictError

    @override
    def execute(self, approved: ApprovalSnapshot, *, clock: Clock) -> Mapping[str, Any]:
        approved.target.status = Ticket.Status.CLOSED
        approved.target.save()
        return {"ticket": approved.target.pk, "status": approved.target.status}


CLOSE_TICKET = CloseTicket()
