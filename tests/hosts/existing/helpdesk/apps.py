from django.apps import AppConfig
from typing_extensions import override


class HelpDeskConfig(AppConfig):
    name = "helpdesk"
    default = True


class HelpDeskWithAgentsConfig(AppConfig):
    name = "helpdesk"

    @override
    def ready(self) -> None:
        from agent_access.approvals.kinds import kinds  # noqa: PLC0415  models must be loaded first
        from agent_access.approvals.tools import tools_of  # noqa: PLC0415  as above
        from agent_access.http.viewset_tools import tools_from  # noqa: PLC0415  as above
        from agent_access.tools import registry  # noqa: PLC0415  as above
        from helpdesk.api_with_agents import TicketViewSet  # noqa: PLC0415  as above
        from helpdesk.approvals import CLOSE_TICKET  # noqa: PLC0415  as above
        from helpdesk.tools import TOOLS  # noqa: PLC0415  as above

        kinds.register(CLOSE_TICKET)
        registry.register(
            *tools_from(TicketViewSet, basename="tickets"),
            *tools_of(CLOSE_TICKET),
            *TOOLS,
        )
