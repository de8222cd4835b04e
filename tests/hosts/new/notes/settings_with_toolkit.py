"""The same, where other programs already sign in with Django OAuth Toolkit, at /o/."""

from .settings import *  # noqa: F403  the same, and more
from .settings import INSTALLED_APPS, MIDDLEWARE

INSTALLED_APPS = [
    *INSTALLED_APPS,
    "django.contrib.admin",
    "django.contrib.messages",
    "django.contrib.sessions",
    "oauth2_provider",
]
MIDDLEWARE = [
    *MIDDLEWARE,
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "oauth2_provider.middleware.OAuth2TokenMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "oauth2_provider.backends.OAuth2Backend",
]
ROOT_URLCONF = "notes.urls_with_toolkit"
LOGIN_URL = "sign-in"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STATIC_URL = "/static/"

# None of it is what browser sign-in does.
OAUTH2_PROVIDER = {
    "SCOPES": {"shelf": "See the shelf."},
    "PKCE_REQUIRED": False,
    "ROTATE_REFRESH_TOKEN": False,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 7200,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["ftp"],
}
