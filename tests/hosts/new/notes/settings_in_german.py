"""The same, in German, and in English for browsers that ask for it."""

from .settings_with_approvals import *  # noqa: F403  the same, and more
from .settings_with_approvals import MIDDLEWARE

LANGUAGE_CODE = "de"
MIDDLEWARE = [*MIDDLEWARE, "django.middleware.locale.LocaleMiddleware"]
