"""The revocation of one connection, for scripts."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management import CommandError
from typing_extensions import override

from agent_access.connections import revoke_connection
from agent_access.models.connections import Connection, RevokedReason
from agent_access.operator_command import OperatorCommand


class Command(OperatorCommand):
    help = "Ends a connection; its receipts and its audit stay."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("connection_id", type=UUID, metavar="ID")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        connection_id: UUID = options["connection_id"]
        if not Connection.objects.filter(pk=connection_id).exists():
            raise CommandError("There is no connection with this ID.")
        if not revoke_connection(connection_id, reason=RevokedReason.OWNER_REVOKED):
            self.stdout.write("The connection had already ended.")
            return
        self.stdout.write("The connection has ended; its next call gets 401.")
