from django.apps import AppConfig
from typing_extensions import override


class OperationsConfig(AppConfig):
    name = "config.operations"

    @override
    def ready(self) -> None:
        from agent_access.signals import approval_decided  # noqa: PLC0415  models must be loaded first
        from config.operations import checks  # noqa: F401, PLC0415  as above
        from config.operations.metrics import time_decision  # noqa: PLC0415  as above

        approval_decided.connect(time_decision, dispatch_uid="operations")
