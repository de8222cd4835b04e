"""The daily cleaning of browser sign-in, for scripts."""

from typing import Any

from typing_extensions import override

from agent_access.oauth.retention import BATCH, forget_old_tokens, forget_unused_clients
from agent_access.operator_command import OperatorCommand


class Command(OperatorCommand):
    help = "Deletes codes, tokens, clients and access requests of browser sign-in after their time."

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        forgotten = dict(forget_old_tokens())
        forgotten["clients"] = 0
        while count := forget_unused_clients(BATCH):
            forgotten["clients"] += count
        told = ", ".join(f"{kind} {count}" for kind, count in forgotten.items())
        self.stdout.write(f"Deleted: {told}.")
