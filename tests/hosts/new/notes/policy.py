"""What this project decides about agents."""

from typing_extensions import override

from agent_access.errors import NotFoundError, ToolError
from agent_access.policy import Policy, ScopeTerms, Service

from .tools import NotebookFullAnswer, NotebookFullError, NoteUnknownError


class NotesPolicy(Policy):
    """Superusers approve, for every active person; here is only what differs from the default."""

    @override
    def scopes(self) -> dict[str, ScopeTerms]:
        return {
            "notes:read": ScopeTerms("Read your notes."),
            "notes:write": ScopeTerms("Add notes.", is_ticked_beforehand=False),
            "notes:throw_away": ScopeTerms(
                "Throw notes away, each of which you approve first.", is_ticked_beforehand=False
            ),
        }

    @override
    def service(self) -> Service:
        return Service(name="notes", title="Notes", version="1.0", instructions="Short notes.")

    @override
    def answer_failure(self, failure: Exception) -> ToolError | None:
        match failure:
            case NoteUnknownError():
                return NotFoundError()
            case NotebookFullError():
                return NotebookFullAnswer()
        return super().answer_failure(failure)
