"""The WSGI application that a server loads."""

import os

import django

from agent_access.gate import GateApplication

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notes.settings")

django.setup(set_prefix=False)
application = GateApplication()
