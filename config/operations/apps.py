from django.apps import AppConfig
from typing_extensions import override


class OperationsConfig(AppConfig):
    name = "config.operations"

    @override
    def ready(self) -> None:
        from config.operations import checks  # noqa: F401, PLC0415  the registry is ready only now
