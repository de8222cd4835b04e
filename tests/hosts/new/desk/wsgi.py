"""The WSGI application as Django starts a project with one."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "desk.settings")

application = get_wsgi_application()
