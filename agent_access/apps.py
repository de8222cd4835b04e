from django.apps import AppConfig
from django.urls import register_converter
from django.utils.translation import gettext_lazy as _
from typing_extensions import override


class AgentAccessConfig(AppConfig):
    name = "agent_access"
    verbose_name = _("Agent access")

    @override
    def ready(self) -> None:
        from agent_access import checks  # noqa: F401, PLC0415  models must be loaded first
        from agent_access.database import constraints, triggers  # noqa: F401, PLC0415  as above
        from agent_access.evidence.parts import Part, parts  # noqa: PLC0415  as above
        from agent_access.evidence.rows import read_events, read_receipts  # noqa: PLC0415  as above
        from agent_access.identifiers import IdConverter  # noqa: PLC0415  as above

        parts.register(
            Part(name="events", rows=read_events), Part(name="receipts", rows=read_receipts)
        )
        register_converter(IdConverter, "agent_access_id")
        triggers.keep_installed(self, check_id="agent_access.W001")
