"""What this project answers to agent access."""

from collections.abc import Callable, Collection, Mapping, Sequence
from uuid import UUID

from django.db.models import QuerySet

from agent_access.errors import NotFoundError, ToolError
from agent_access.fields import JSONSchema
from agent_access.host import ScopeTerms, Service, ShellLines, Work
from agent_access.models.connections import RevokedReason
from agent_access.tools import Tool

from .models import User
from .tools import NotebookFullAnswer, NotebookFullError, NoteUnknownError


class NotesHost:
    """Implements `agent_access.host.Host`."""

    def owner_id(self) -> UUID | None:
        owners = User.objects.filter(is_superuser=True).order_by("date_joined")
        return owners.values_list("id", flat=True).first()

    def owner_id_sql(self) -> None:
        return None  # owner_id asks by itself

    def delegate_problem(self, user: User) -> RevokedReason | None:
        return None if user.is_active else RevokedReason.USER_DEACTIVATED

    def delegates(self) -> QuerySet[User]:
        return User.objects.filter(is_active=True).order_by("username")

    def session_revision(self, user: User) -> int:
        return user.session_revision

    def scopes(self) -> Mapping[str, ScopeTerms]:
        return {
            "notes:read": ScopeTerms("Read your notes."),
            "notes:write": ScopeTerms("Add notes.", is_ticked_beforehand=False),
        }

    def service(self) -> Service:
        return Service(name="notes", title="Notes", version="1.0", instructions="Short notes.")

    def in_demo_mode(self) -> bool:
        return False

    def answer_failure(self, failure: Exception) -> ToolError | None:
        match failure:
            case NoteUnknownError():
                return NotFoundError()
            case NotebookFullError():
                return NotebookFullAnswer()
        return None

    def missing_for_agents(self) -> Sequence[str]:
        return ()  # a first note needs nothing

    def records_made_by(self, connection_id: UUID, viewer: User) -> Sequence[Work]:
        return ()  # a note does not know which connection made it

    def records_url(self, connection_id: UUID, viewer: User) -> str:
        return ""  # and so no page tells

    def record_labels(self, record_ids: Collection[UUID], viewer: User) -> Mapping[UUID, str]:
        return {}  # a note has no name

    def find_ids_by_label(self, name: str) -> Collection[UUID]:
        return ()  # and so none is found by it

    def schema_filler(self) -> Callable[[Tool, JSONSchema], JSONSchema]:
        return lambda _tool, schema: schema

    def first_steps(self, *, credential: str, grants: Collection[str]) -> Sequence[ShellLines]:
        return ()  # the page of a new connection needs no examples
