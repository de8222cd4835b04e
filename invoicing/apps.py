from django.apps import AppConfig
from typing_extensions import override

from agent_access.database.triggers import keep_installed
from agent_access.tools import registry


class InvoicingConfig(AppConfig):
    name = "invoicing"
    label = "invoices"
    verbose_name = "Invoicing"

    @override
    def ready(self) -> None:
        from invoicing.agent_tools.catalogue import CATALOGUE  # noqa: PLC0415  models must be loaded first

        registry.register(*CATALOGUE)
        keep_installed(self, check_id="invoices.W001")
