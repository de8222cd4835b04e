"""The owner's main switch, for scripts; and what agents still lack."""

import json
from argparse import ArgumentParser
from typing import Any

from django.db import connection
from typing_extensions import override

from agent_access import conf
from agent_access.connections import live_connections
from agent_access.models.settings import AccessSettings
from agent_access.operator_command import OperatorCommand
from agent_access.switches import turn_access


class Command(OperatorCommand):
    help = "Turns agent access on or off (off ends all connections), or shows its state."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("state", choices=("on", "off", "status"))
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        state, revoked = options["state"], 0
        if state != "status":
            revoked = turn_access(on=state == "on")
        facts = {
            "access_on": AccessSettings.read().access_on,
            "live_connections": live_connections().count(),
            "revoked_connections": revoked,
            "missing": [] if state == "off" else list(conf.policy().missing_for_agents()),
        }
        self.stdout.write(json.dumps(facts) if options["json"] else _sentence(facts))


def _sentence(facts: dict[str, Any]) -> str:
    """Return the state, with the database: a shell without its settings asks another one.

    What agents lack follows, each on a line of its own.
    """
    state = "on" if facts["access_on"] else "off"
    place = connection.settings_dict["NAME"]
    ended = f" {facts['revoked_connections']} were ended." if facts["revoked_connections"] else ""
    live = facts["live_connections"]
    sentence = f"Agent access is {state} in the database {place}. Live connections: {live}.{ended}"
    return "\n".join([sentence, *facts["missing"]])
