"""The same, with browser sign-in beside the toolkit that was there before."""

from .settings_with_toolkit import *  # noqa: F403  the same, and more
from .settings_with_toolkit import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "agent_access.oauth"]
ROOT_URLCONF = "notes.urls_beside_toolkit"
