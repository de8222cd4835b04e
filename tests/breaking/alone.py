"""Lets the harness run outside of the tests: it loads modules of the product that mark words."""

from django.conf import settings

if not settings.configured:
    settings.configure()
