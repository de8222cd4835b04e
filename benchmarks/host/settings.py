"""A project with tickets that lends its views and tools to agents: as the guide says, no more."""

import os
import secrets

SECRET_KEY = secrets.token_urlsafe(50)
USE_TZ = True
ALLOWED_HOSTS = ["tickets.example"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "oauth2_provider",
    "rest_framework",
    "agent_access",
    "mcp_gateway",
    "benchmarks.host.apps.HostConfig",
]
MIDDLEWARE = ["agent_access.gate.GateMiddleware"]
ROOT_URLCONF = "benchmarks.host.urls"
# Nobody is to be kept waiting while it is measured.
AGENT_ACCESS = {
    "BASE_URL": "https://tickets.example",
    "LIMIT_PER_CONNECTION": 10**6,
    "LIMIT_PER_ADDRESS": 10**6,
}
OAUTH2_PROVIDER = {"SCOPES": {"tickets:read": "Read tickets.", "tickets:write": "Open tickets."}}
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "postgres",
        "USER": "postgres",
        "HOST": os.environ["POSTGRESQL_FOLDER"],
        "CONN_MAX_AGE": None,
    }
}
