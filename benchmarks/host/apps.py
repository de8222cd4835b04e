from django.apps import AppConfig


class HostConfig(AppConfig):
    name = "benchmarks.host"
    label = "host"

    def ready(self) -> None:
        from agent_access.http.viewset_tools import tools_from  # noqa: PLC0415  models must be loaded first
        from agent_access.tools import registry  # noqa: PLC0415  as above
        from benchmarks.host.tools import TOOLS  # noqa: PLC0415  as above
        from benchmarks.host.views import AgentViewSet  # noqa: PLC0415  as above

        registry.register(*TOOLS, *tools_from(AgentViewSet, basename="tickets"))
