"""A system check of the environment itself, in which a misspelt setting has no effect."""

import os
from typing import Any

from django.core import checks

from agent_access.operator_command import ENVIRONMENT
from config.environment import find_misspelt


@checks.register(ENVIRONMENT)
def check_names(**kwargs: Any) -> list[checks.CheckMessage]:
    return [
        checks.Warning(
            f"The variable {name} is no setting of this service, and has no effect.",
            hint=f"Name it {likely}, unless it belongs to another program.",
            id="config.W001",
        )
        for name, likely in find_misspelt(os.environ).items()
    ]
