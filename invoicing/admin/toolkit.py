"""No pages for Django OAuth Toolkit's own clients and tokens, of which nobody makes any here."""

import oauth2_provider.admin  # noqa: F401  registers what is unregistered below
from django.apps import apps
from django.contrib import admin

TABLES = apps.get_app_config("oauth2_provider").get_models()

admin.site.unregister(filter(admin.site.is_registered, TABLES))
