from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.database.triggers import keep_installed


class ApprovalsConfig(AppConfig):
    name = "agent_access.approvals"
    label = "agent_approvals"
    verbose_name = _("Approvals")

    @override
    def ready(self) -> None:
        from agent_access import waiting  # noqa: PLC0415  models must be loaded first
        from agent_access.approvals import checks  # noqa: F401, PLC0415  as above
        from agent_access.approvals.engine import SUBJECT  # noqa: PLC0415  as above
        from agent_access.approvals.evidence import read_approvals  # noqa: PLC0415  as above
        from agent_access.approvals.inbox import count_missed_by_person, tally  # noqa: PLC0415  as above
        from agent_access.approvals.questions import Approvals  # noqa: PLC0415  as above
        from agent_access.evidence.parts import Part, parts  # noqa: PLC0415  as above

        parts.register(Part(name="approvals", rows=read_approvals))
        waiting.subjects[SUBJECT] = Approvals()
        waiting.missed.append(count_missed_by_person)
        waiting.tallies.append(tally)
        keep_installed(self, check_id="agent_approvals.W001")
