"""The tools by hand, which do what the view does."""

from datetime import date
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from agent_access.calls import CallContext, Record
from agent_access.errors import NotFoundError
from agent_access.fields import WHOLE, ToolInput
from agent_access.tools import NoInput, Tool
from benchmarks.host.models import Ticket


class TicketShape(TypedDict):
    id: int
    title: str
    body: str
    priority: int
    due: date | None


class TicketInput(ToolInput):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    body: str = ""
    priority: Annotated[int, WHOLE] = 1
    due: str | None = None


def describe(ticket: Ticket) -> TicketShape:
    return {
        "id": ticket.pk,
        "title": ticket.title,
        "body": ticket.body,
        "priority": ticket.priority,
        "due": ticket.due,
    }


def find(user: Any, pk: int) -> Ticket:
    ticket = Ticket.objects.filter(owner=user, pk=pk).first()
    if ticket is None:
        raise NotFoundError
    return ticket


def read_ticket(context: CallContext, no_input: NoInput) -> Record[TicketShape]:
    ticket = find(context.user, context.record_id())
    return Record(describe(ticket), ticket.pk)


def open_ticket(context: CallContext, asked: TicketInput) -> Record[TicketShape]:
    due = date.fromisoformat(asked.due) if asked.due else None
    given = asked.model_dump(exclude={"due"})
    ticket = Ticket.objects.create(owner=context.user, due=due, **given)
    return Record(describe(ticket), ticket.pk)


TOOLS = (
    Tool(
        name="hand.read",
        title="Read a ticket",
        description="Reads a ticket.",
        method="GET",
        path="/hand/{id}",
        module="hand",
        scope="tickets:read",
        permissions=("host.view_ticket",),
        input=NoInput,
        run=read_ticket,
        id_type=int,
    ),
    Tool(
        name="hand.open",
        title="Open a ticket",
        description="Opens a ticket.",
        method="POST",
        path="/hand",
        module="hand",
        scope="tickets:write",
        permissions=("host.add_ticket",),
        input=TicketInput,
        run=open_ticket,
        writes=True,
        find_record=find,
        status=HTTPStatus.CREATED,
        id_type=int,
    ),
)
