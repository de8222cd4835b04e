"""`python -m tests.rehearsal`: see run.py. The agents of tests need Django's settings first."""

import os
import sys

import django

from tests.environment import SETTINGS

# What a developer's shell says must reach no server; each gets its own DATABASE_URL.
os.environ.update(SETTINGS, DJANGO_SETTINGS_MODULE="config.settings", DATABASE_URL="sqlite:///none")
django.setup()

if __name__ == "__main__":
    from tests.rehearsal.run import main

    sys.exit(main())
