"""The same, with browser sign-in: clients that ask for access by themselves."""

from .settings import *  # noqa: F403  the same, and more
from .settings import INSTALLED_APPS, MIDDLEWARE

INSTALLED_APPS = [
    *INSTALLED_APPS,
    "django.contrib.sessions",
    "oauth2_provider",
    "agent_access.oauth",
]
MIDDLEWARE = [
    *MIDDLEWARE,
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
ROOT_URLCONF = "notes.urls_with_sign_in"
LOGIN_URL = "sign-in"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    }
]
