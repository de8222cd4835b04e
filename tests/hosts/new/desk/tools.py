"""The tools of the desk, whose records have integer keys."""

from http import HTTPStatus
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from agent_access.calls import CallContext, Page, Record
from agent_access.fields import OptionalNumber, ToolInput
from agent_access.tools import NoInput, Tool

from .models import Ticket


class TicketShape(TypedDict):
    id: int
    subject: str


class TicketsInput(ToolInput):
    after: Annotated[OptionalNumber, Field(description="The next of the page before.")] = None


class TicketInput(ToolInput):
    subject: Annotated[str, Field(min_length=1)]


def find_ticket(user: object, number: int) -> Ticket:
    return Ticket.objects.get(author=user, pk=number)


def describe(ticket: Ticket) -> TicketShape:
    return {"id": ticket.pk, "subject": ticket.subject}


def list_tickets(context: CallContext, page: TicketsInput) -> Page[TicketShape]:
    tickets = Ticket.objects.filter(author=context.user, pk__gt=page.after or 0).order_by("pk")
    shown, following = tickets[:1], tickets[1:2]
    return Page([describe(each) for each in shown], shown[0].pk if following else None)


def read_ticket(context: CallContext, _: NoInput) -> Record[TicketShape]:
    ticket = find_ticket(context.user, context.record_id())
    return Record(describe(ticket), ticket.pk)


def open_ticket(context: CallContext, asked: TicketInput) -> Record[TicketShape]:
    ticket = Ticket(author=context.user, subject=asked.subject)
    ticket.full_clean()
    ticket.save()
    return Record(describe(ticket), ticket.pk)


SHARED: dict[str, Any] = {"module": "tickets", "id_type": int}

TOOLS = (
    Tool(
        name="tickets.list",
        title="List tickets",
        description="Lists the person's tickets.",
        method="GET",
        path="/tickets",
        scope="tickets:read",
        permissions=("desk.view_ticket",),
        input=TicketsInput,
        run=list_tickets,
        **SHARED,
    ),
    Tool(
        name="tickets.read",
        title="Read a ticket",
        description="Reads one of the person's tickets.",
        method="GET",
        path="/tickets/{id}",
        scope="tickets:read",
        permissions=("desk.view_ticket",),
        input=NoInput,
        run=read_ticket,
        **SHARED,
    ),
    Tool(
        name="tickets.open",
        title="Open a ticket",
        description="Opens a ticket.",
        method="POST",
        path="/tickets",
        scope="tickets:write",
        permissions=("desk.add_ticket",),
        input=TicketInput,
        run=open_ticket,
        writes=True,
        find_record=find_ticket,
        status=HTTPStatus.CREATED,
        **SHARED,
    ),
)
