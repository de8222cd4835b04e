"""The product's settings, but that static files need no collecting and passwords cost nothing.

Push services may be on this machine, too.
"""

from config.settings import *  # noqa: F403  every one of them, under its own name
from config.settings import AGENT_ACCESS
from config.settings import STORAGES as PRODUCT_STORAGES

STORAGES = {
    **PRODUCT_STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
AGENT_ACCESS["REACHES_LOOPBACK"] = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
