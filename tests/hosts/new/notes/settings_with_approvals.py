"""The same, with acts that a person approves on a page of the project."""

from .settings_with_sign_in import *  # noqa: F403  the same, and more
from .settings_with_sign_in import INSTALLED_APPS

INSTALLED_APPS = [
    "agent_access.approvals",
    "notes.apps_with_approvals.NotesWithApprovalsConfig",
    *(app for app in INSTALLED_APPS if app != "notes"),
]
ROOT_URLCONF = "notes.urls_with_approvals"
