from django.apps import AppConfig
from typing_extensions import override

from agent_access.triggers import keep_installed


class InvoicingConfig(AppConfig):
    name = "invoicing"
    label = "invoices"
    verbose_name = "Invoicing"

    @override
    def ready(self) -> None:
        keep_installed(self, check_id="invoices.W001")
