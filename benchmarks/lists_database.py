"""Fills one database for the measurement of lists, or measures it: `fill 10000`, `measure`."""

import json
import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    # Models can be read from here on only.
    from django.core.management import call_command  # noqa: PLC0415  see above

    from benchmarks.list_copies import fill_database  # noqa: PLC0415  see above
    from benchmarks.list_pages import describe_database  # noqa: PLC0415  see above

    if sys.argv[1] == "measure":
        sys.stdout.write(json.dumps(describe_database()))
        return
    call_command("migrate", verbosity=0)
    call_command("load_sample_company", "--force", stdout=sys.stderr)
    fill_database(int(sys.argv[2]))


if __name__ == "__main__":
    main()
