from django.apps import AppConfig
from typing_extensions import override


class DeskConfig(AppConfig):
    name = "desk"
    default_auto_field = "django.db.models.BigAutoField"

    @override
    def ready(self) -> None:
        from agent_access.tools import registry  # noqa: PLC0415  models must be loaded first

        from .tools import TOOLS  # noqa: PLC0415  as above

        registry.register(*TOOLS)
