#!/usr/bin/env python
"""Django's command line, with a wrong setting told in one sentence."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Wrong setting: {error}")


if __name__ == "__main__":
    main()
