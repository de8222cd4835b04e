"""What a script that makes backups tells, once one is made and kept."""

from typing import Any

from django.utils import timezone
from typing_extensions import override

from agent_access.models import AccessSettings
from agent_access.operator_command import OperatorCommand


class Command(OperatorCommand):
    help = "Notes that a backup was made just now, for the owner's page."

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        noted = {"backed_up_at": timezone.now()}
        AccessSettings.objects.update_or_create(pk=AccessSettings.ONLY_ID, defaults=noted)
        self.stdout.write("Noted.")
