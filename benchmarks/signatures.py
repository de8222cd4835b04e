"""Measures what a signature costs an execution, in processor time.

    python -m benchmarks.signatures

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
            "BASE_URL": "https://invoices.example",
            "LIMIT_PER_CONNECTION": "1000000",
            "LIMIT_PER_ADDRESS": "1000000",
            "DATABASE_URL": f"sqlite:///{folder}/signatures.sqlite3",
        }
        django.setup()
        # Models can be read from here on only.
        from django.core.management import call_command  # noqa: PLC0415  see above

        from benchmarks.signature_costs import measure  # noqa: PLC0415  see above

        call_command("migrate", verbosity=0)
        sys.stdout.write("\n".join(measure()) + "\n")


if __name__ == "__main__":
    main()
