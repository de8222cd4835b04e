"""The product's settings, but that static files need no collecting and passwords cost nothing."""

from config.settings import *  # noqa: F403  every one of them, under its own name
from config.settings import STORAGES as PRODUCT_STORAGES

STORAGES = {
    **PRODUCT_STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
