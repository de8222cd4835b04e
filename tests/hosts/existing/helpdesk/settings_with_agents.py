"""The same help desk, whose people may now let agents in."""

import os

from helpdesk.settings import *  # noqa: F403  the same, and more
from helpdesk.settings import INSTALLED_APPS, MIDDLEWARE, REST_FRAMEWORK

INSTALLED_APPS = [
    *(app for app in INSTALLED_APPS if app != "helpdesk"),
    "agent_access",
    "agent_access.approvals",
    "agent_access.oauth",
    "mcp_gateway",
    "helpdesk.apps.HelpDeskWithAgentsConfig",
]
MIDDLEWARE = ["agent_access.gate.GateMiddleware", *MIDDLEWARE]
ROOT_URLCONF = "helpdesk.urls_with_agents"
AGENT_ACCESS = {
    "BASE_URL": os.environ["BASE_URL"],
    "TRUSTED_PROXIES": 1,
    # The tests ask more often than any one person could answer.
    "LIMIT_PER_ADDRESS": 600,
    "LIMIT_PER_CONNECTION": 600,
}
# It closes every view to agents that does not say otherwise.
REST_FRAMEWORK = REST_FRAMEWORK | {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "agent_access.http.authentication.ConnectionAuthentication",
        *REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"],
    ]
}
