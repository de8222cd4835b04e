"""Settings of the peer: what a careful project with the same database would have."""

import os

import dj_database_url

SECRET_KEY = "for-benchmarks-only-and-guarding-nothing-whatsoever"  # noqa: S105  as it says
DEBUG = False
ALLOWED_HOSTS = ["*"]
APPEND_SLASH = False
ROOT_URLCONF = "benchmarks.peers.drf.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "oauth2_provider",
    "rest_framework",
    "benchmarks.peers.drf",
]
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware"]
# The same server, driver and options as the product has.
DATABASES = {
    "default": {
        **dj_database_url.parse(os.environ["DATABASE_URL"]),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"server_side_binding": True, "prepare_threshold": 1},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "oauth2_provider.contrib.rest_framework.OAuth2Authentication"
    ],
    "DEFAULT_PERMISSION_CLASSES": ["oauth2_provider.contrib.rest_framework.TokenHasReadWriteScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
}
