"""The OpenAPI document, for clients that are generated or tested from it."""

import json
from typing import Any

from django.core import checks
from typing_extensions import override

from agent_access.openapi import describe_api
from agent_access.operator_command import OperatorCommand


class Command(OperatorCommand):
    help = "Prints the HTTP tools as an OpenAPI 3.1 document."
    requires_system_checks = (checks.Tags.models,)  # names a scope without a description

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(describe_api(), indent=2, ensure_ascii=False))
