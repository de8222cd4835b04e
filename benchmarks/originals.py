"""Measures what PDFs with an e-invoice inside cost, in processor time and in memory.

    python -m benchmarks.originals

prints the table that benchmarks/README.md keeps. It makes an SQLite database of its own.
"""

import os
import sys
import tempfile

import django


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "SECRET_KEY": "for measuring only" * 3,
            "DATABASE_URL": f"sqlite:///{folder}/originals.sqlite3",
        }
        django.setup()
        # Models can be read from here on only.
        from django.core.management import call_command  # noqa: PLC0415  see above

        from benchmarks.original_costs import measure  # noqa: PLC0415  see above

        call_command("migrate", verbosity=0)
        sys.stdout.write("\n".join(measure()) + "\n")


if __name__ == "__main__":
    main()
