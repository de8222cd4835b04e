"""Notes: a small application into which agents are let."""

import os

import dj_database_url

SECRET_KEY = os.environ["SECRET_KEY"]
ALLOWED_HOSTS = ["localhost"]

# The proxy in front ends TLS.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "agent_access",
    "mcp_gateway",
    "notes",
]
MIDDLEWARE = ["agent_access.gate.GateMiddleware"]
ROOT_URLCONF = "notes.urls"
WSGI_APPLICATION = "notes.wsgi.application"
AUTH_USER_MODEL = "notes.User"
USE_TZ = True

AGENT_ACCESS = {
    "BASE_URL": os.environ["BASE_URL"],  # https, host, optional port; nothing after it
    "POLICY": "notes.policy.NotesPolicy",
    "TRUSTED_PROXIES": 1,
}

DATABASES = {"default": dj_database_url.parse(os.environ["DATABASE_URL"])}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {"transaction_mode": "IMMEDIATE"}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "agent_access.http.authentication.ConnectionAuthentication",
        "rest_framework.authentication.BasicAuthentication",
    ],
}
