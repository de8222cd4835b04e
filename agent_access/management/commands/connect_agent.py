"""A connection made on the command line, with its credential shown once."""

import json
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import CommandError
from typing_extensions import override

from agent_access import connections
from agent_access.operator_command import OperatorCommand


class Command(OperatorCommand):
    help = "Creates a connection for the owner and prints its credential once."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        name = get_user_model().USERNAME_FIELD.upper()
        parser.add_argument("--user", required=True, metavar=name, help="whom it acts for")
        parser.add_argument("--scopes", required=True, help="the scopes, separated by commas")
        parser.add_argument("--days", required=True, type=int, help=f"1 to {connections.MAX_DAYS}")
        parser.add_argument("--approver", metavar=name, help="who approves it, if not the owner")
        parser.add_argument("--name", default="Agent", help="the name that people see")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        request = connections.ConnectionRequest(
            user=_find_user(options["user"]),
            scopes=[scope.strip() for scope in options["scopes"].split(",") if scope.strip()],
            days=options["days"],
            name=options["name"].strip(),  # as the forms do
            approver=_find_user(options["approver"]) if options["approver"] else None,
        )
        try:
            connection, credential = connections.create_connection(request)
        except connections.ConnectionNotAllowedError as error:
            raise CommandError(str(error)) from None
        facts = {
            "connection_id": str(connection.id),
            "credential": credential,
            "expires_at": f"{connection.expires_at:%Y-%m-%dT%H:%M:%SZ}",
        }
        self.stdout.write(json.dumps(facts) if options["json"] else _text(facts))


def _find_user(name: str) -> Any:
    users = get_user_model()
    try:
        return users._default_manager.get_by_natural_key(name)  # noqa: SLF001  Django's public name for a swapped model's manager
    except users.DoesNotExist:
        raise CommandError("There is no person with this sign-in name.") from None


def _text(facts: dict[str, str]) -> str:
    return (
        f"Connection {facts['connection_id']}, until {facts['expires_at']}.\n"
        f"Credential, shown only now:\n{facts['credential']}"
    )
