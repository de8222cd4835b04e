from typing_extensions import override

from .apps import NotesConfig


class NotesWithApprovalsConfig(NotesConfig):
    @override
    def ready(self) -> None:
        super().ready()
        from agent_access.approvals.kinds import kinds  # noqa: PLC0415  models must be loaded first
        from agent_access.approvals.tools import tools_of  # noqa: PLC0415  as above
        from agent_access.tools import registry  # noqa: PLC0415  as above

        from .approvals import THROW_AWAY  # noqa: PLC0415  as above

        kinds.register(THROW_AWAY)
        registry.register(*tools_of(THROW_AWAY))
