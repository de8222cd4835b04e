"""Runs a command of the service as `manage.py` does, of the build that BROKEN_BUILD names."""

import os
import sys

import django
from django.core.management import execute_from_command_line

from tests.breaking.builds import VARIABLE, Build


def main() -> None:
    build = Build(os.environ[VARIABLE])
    if build != Build.SOUND:
        django.setup(set_prefix=False)

        from tests.breaking.broken_builds import break_product  # noqa: PLC0415  it imports models

        break_product(build)
    execute_from_command_line(["manage.py", *sys.argv[1:]])


if __name__ == "__main__":
    main()
