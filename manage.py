#!/usr/bin/env python
"""Django's command line, with a mistake of the operator's told in one sentence."""

import os
import sys

from django.conf import settings
from django.core.exceptions import AppRegistryNotReady, ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import DatabaseError, InterfaceError

from config.environment import QUICKSTART_FILE
from invoicing.quickstart.errors import QuickstartError
from invoicing.quickstart.settings_file import prepare_settings


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        if sys.argv[1:2] == ["quickstart"]:
            prepare_settings(QUICKSTART_FILE, sys.argv[2:])
        _execute()
    except ImproperlyConfigured as error:
        sys.exit(f"Wrong setting: {error}")
    except QuickstartError as error:
        sys.exit(str(error))
    except (DatabaseError, InterfaceError, OSError) as error:
        # Commands of Django's own: those of ours catch what they can explain.
        sentence = None if "--traceback" in sys.argv else _explain(error)
        if sentence is None:
            raise
        sys.exit(sentence)
    except KeyboardInterrupt:
        # While Django loads, or in a command of its own.
        print("Stopped before it was done.", file=sys.stderr)  # noqa: T201  said to a person
        sys.exit(130)  # as shells tell of a program that Ctrl-C ended


def _execute() -> None:
    try:
        execute_from_command_line(sys.argv)
    except AppRegistryNotReady:
        # Django tried a command although the settings are wrong: this raises what is.
        _ = settings.INSTALLED_APPS
        raise


def _explain(error: Exception) -> str | None:
    from agent_access.database.failures import explain  # noqa: PLC0415  after the settings

    if isinstance(error, OSError):
        return f"{error.filename} cannot be used: {error.strerror}." if error.filename else None
    return explain(error, is_migrating=sys.argv[1:2] == ["migrate"])


if __name__ == "__main__":
    main()
