"""Fills one database of a kind, or prints as JSON what was measured in it.

python -m benchmarks.inside lists fill 10000
python -m benchmarks.inside lists measure
"""

import json
import os
import sys
from importlib import import_module

import django

# Of each kind the module with `fill_database(size)`, and that with `describe_database()`.
KINDS = {
    "search": ("search_copies", "search_pages"),
    "lists": ("list_copies", "list_pages"),
    "home": ("home_database", "home_database"),
    "activity": ("activity_database", "activity_database"),
}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.core.management import call_command  # noqa: PLC0415  models can be read from here on

    kind, act, *size = sys.argv[1:]
    filling, measuring = KINDS[kind]
    if act == "measure":
        described = import_module(f"benchmarks.{measuring}").describe_database()
        sys.stdout.write(json.dumps(described))
        return
    call_command("migrate", verbosity=0)
    call_command("load_sample_company", "--force", stdout=sys.stderr)
    import_module(f"benchmarks.{filling}").fill_database(int(size[0]))


if __name__ == "__main__":
    main()
