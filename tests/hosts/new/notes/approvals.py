"""What a person of this project approves before an agent does it."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from typing_extensions import override

from agent_access.approvals.kinds import ApprovalKind, Clock, Words
from agent_access.approvals.snapshots import ApprovalSnapshot

from .models import Note, User


class ThrowAway(ApprovalKind[Note]):
    """To throw a note away for good."""

    name = "notes.throw_away"
    model = Note
    words = Words(
        title="Throw a note away",
        question="Throw this note away?",
        button="Throw it away",
        consequences=("It cannot be brought back.",),
    )
    scope = "notes:throw_away"
    module = "notes"
    permissions = ("notes.delete_note",)
    removes_target = True

    @override
    def visible_to(self, user: User) -> QuerySet[Note]:
        return Note.objects.filter(owner=user)

    @override
    def facts(self, target: Note) -> Mapping[str, Any]:
        return {"text": target.text}

    @override
    def execute(self, approved: ApprovalSnapshot, *, clock: Clock) -> Mapping[str, Any]:
        approved.target.delete()
        return {"thrown_away": approved.prepared["text"]}


THROW_AWAY = ThrowAway()
