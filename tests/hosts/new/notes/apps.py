from django.apps import AppConfig
from typing_extensions import override


class NotesConfig(AppConfig):
    name = "notes"

    @override
    def ready(self) -> None:
        from agent_access.tools import registry  # noqa: PLC0415  models must be loaded first

        from .tools import TOOLS  # noqa: PLC0415  as above

        registry.register(*TOOLS)

        from agent_access.http.viewset_tools import tools_from  # noqa: PLC0415  as above

        from .views import NotebookViewSet  # noqa: PLC0415  as above

        registry.register(*tools_from(NotebookViewSet, basename="notebook"))
