"""The same, with acts that a person approves on a page of the project."""

from .settings_with_sign_in import *  # noqa: F403  the same, and more
from .settings_with_sign_in import AGENT_ACCESS, INSTALLED_APPS

INSTALLED_APPS = [
    "agent_access.approvals",
    "notes.apps_with_approvals.NotesWithApprovalsConfig",
    *(app for app in INSTALLED_APPS if app != "notes"),
]
ROOT_URLCONF = "notes.urls_with_approvals"
# The tests ask more often than any one person could answer.
AGENT_ACCESS = {**AGENT_ACCESS, "LIMIT_PER_ADDRESS": 600, "LIMIT_PER_CONNECTION": 600}
