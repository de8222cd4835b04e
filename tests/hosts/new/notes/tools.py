"""The tools of this project: what agents may do with notes."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from agent_access import errors
from agent_access.calls import CallContext, Page, Record
from agent_access.fields import WHOLE, OptionalId, ToolInput
from agent_access.tools import Tool

from .models import Note

MOST_NOTES = 3


class NoteUnknownError(Exception):
    """There is no such note among those of this person."""


class NotebookFullError(Exception):
    """A person keeps so many notes and no more."""


class NotebookFullAnswer(errors.ToolError):
    code = "notebook_full"
    status = HTTPStatus.CONFLICT
    message = "The notebook is full; ask the person to throw a note away."


class NoteShape(TypedDict):
    id: UUID
    text: str


class NotesInput(ToolInput):
    limit: Annotated[int, Field(ge=1, le=50), WHOLE] = 25
    after: Annotated[OptionalId, Field(description="The next of the page before.")] = None


class NoteInput(ToolInput):
    text: Annotated[str, Field(min_length=1, max_length=200)]


def list_notes(context: CallContext, page: NotesInput) -> Page[NoteShape]:
    notes = Note.objects.filter(owner=context.user).order_by("id")
    if page.after:
        notes = notes.filter(id__gt=page.after)
    found = list(notes[: page.limit + 1])
    shown = found[: page.limit]
    return Page([describe_note(note) for note in shown], shown[-1].id if shown != found else None)


def write_note(context: CallContext, note: NoteInput) -> Record[NoteShape]:
    if Note.objects.filter(owner=context.user).count() >= MOST_NOTES:
        raise NotebookFullError
    written = Note.objects.create(owner=context.user, text=note.text)
    return Record(describe_note(written), written.id)


def describe_note(note: Note) -> NoteShape:
    return {"id": note.id, "text": note.text}


def note_for(user: object, note_id: UUID) -> Note:
    note = Note.objects.filter(owner=user, id=note_id).first()
    if note is None:
        raise NoteUnknownError
    return note


LIST_NOTES = Tool(
    name="notes.list",
    title="List notes",
    description="Lists the person's notes. To go on, pass next as after until next is null.",
    method="GET",
    path="/notes",
    module="notes",
    scope="notes:read",
    permissions=("notes.view_note",),
    input=NotesInput,
    run=list_notes,
)

WRITE_NOTE = Tool(
    name="notes.write",
    title="Write a note",
    description="Adds a note. Send the same idempotency key when you repeat this operation.",
    method="POST",
    path="/notes",
    module="notes",
    scope="notes:write",
    permissions=("notes.add_note",),
    input=NoteInput,
    run=write_note,
    writes=True,
    find_record=note_for,
    status=HTTPStatus.CREATED,
    refusals=(NotebookFullAnswer,),
)

TOOLS = (LIST_NOTES, WRITE_NOTE)
