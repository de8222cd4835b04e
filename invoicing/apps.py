from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.database.triggers import keep_installed
from agent_access.tools import registry


class InvoicingConfig(AppConfig):
    name = "invoicing"
    label = "invoices"
    verbose_name = _("Invoicing")

    @override
    def ready(self) -> None:
        from agent_access.approvals.kinds import kinds  # noqa: PLC0415  models must be loaded first
        from agent_access.evidence.parts import parts  # noqa: PLC0415  as above
        from invoicing.agent_tools.catalogue import CATALOGUE  # noqa: PLC0415  as above
        from invoicing.agent_tools.issue_approvals import ISSUE_APPROVAL  # noqa: PLC0415  as above
        from invoicing.evidence.package import DOCUMENTS  # noqa: PLC0415  as above
        from invoicing.models.words import name_records  # noqa: PLC0415  as above

        name_records()
        registry.register(*CATALOGUE)
        kinds.register(ISSUE_APPROVAL)
        parts.register(DOCUMENTS)
        keep_installed(self, check_id="invoices.W001")
