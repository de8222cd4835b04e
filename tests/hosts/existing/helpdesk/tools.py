"""Tools by hand, beside those of the view: comments, which have integer keys too."""

from http import HTTPStatus
from typing import Annotated, Any

from agent_access.calls import CallContext, Page, Record
from agent_access.fields import OptionalNumber, RecordNumber, ToolInput
from agent_access.tools import NoInput, Tool
from pydantic import Field
from typing_extensions import TypedDict

from helpdesk.models import Comment


class CommentShape(TypedDict):
    id: int
    text: str


class CommentsInput(ToolInput):
    after: Annotated[OptionalNumber, Field(description="The next of the page before.")] = None


class CommentInput(ToolInput):
    ticket: RecordNumber
    text: str


def find_comment(user: object, number: int) -> Comment:
    return Comment.objects.get(ticket__requester=user, pk=number)


def describe(comment: Comment) -> CommentShape:
    return {"id": comment.pk, "text": comment.text}


def list_comments(context: CallContext, page: CommentsInput) -> Page[CommentShape]:
    theirs = Comment.objects.filter(ticket__requester=context.user, pk__gt=page.after or 0)
    shown, following = (theirs.order_by("pk")[first : first + 1] for first in (0, 1))
    return Page([describe(each) for each in shown], shown[0].pk if following else None)


def read_comment(context: CallContext, _: NoInput) -> Record[CommentShape]:
    comment = find_comment(context.user, context.record_id())
    return Record(describe(comment), comment.pk)


def write_comment(context: CallContext, asked: CommentInput) -> Record[CommentShape]:
    ticket = context.user.ticket_set.get(pk=asked.ticket)
    comment = Comment(ticket=ticket, text=asked.text)
    comment.full_clean()
    comment.save()
    return Record(describe(comment), comment.pk)


SHARED: dict[str, Any] = {"module": "tickets", "id_type": int}

TOOLS = (
    Tool(
        name="comments.list",
        title="List comments",
        description="Lists what was said of the person's tickets.",
        method="GET",
        path="/comments",
        scope="tickets:read",
        permissions=("helpdesk.view_comment",),
        input=CommentsInput,
        run=list_comments,
        **SHARED,
    ),
    Tool(
        name="comments.read",
        title="Read a comment",
        description="Reads what was said of one of the person's tickets.",
        method="GET",
        path="/comments/{id}",
        scope="tickets:read",
        permissions=("helpdesk.view_comment",),
        input=NoInput,
        run=read_comment,
        **SHARED,
    ),
    Tool(
        name="comments.write",
        title="Write a comment",
        description="Says something of one of the person's tickets.",
        method="POST",
        path="/comments",
        scope="tickets:write",
        permissions=("helpdesk.add_comment",),
        input=CommentInput,
        run=write_comment,
        writes=True,
        find_record=find_comment,
        status=HTTPStatus.CREATED,
        **SHARED,
    ),
)
