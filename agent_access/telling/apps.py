from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _
from typing_extensions import override


class TellingConfig(AppConfig):
    name = "agent_access.telling"
    label = "agent_telling"
    verbose_name = _("Notifications")
    # Whatever the project's own is: another one would ask for a migration.
    default_auto_field = "django.db.models.BigAutoField"

    @override
    def ready(self) -> None:
        from agent_access.telling import digests, heads  # noqa: PLC0415  models must be loaded first
        from agent_access.telling.outbox import note  # noqa: PLC0415  as above
        from agent_access.waiting import asked, subjects  # noqa: PLC0415  as above

        subjects[digests.SUBJECT] = digests.Digests()
        subjects[heads.SUBJECT] = heads.Heads()
        asked.connect(note, dispatch_uid="agent_telling")
