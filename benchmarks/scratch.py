"""A PostgreSQL with the sample company for one measurement, in this process, and gone after it."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

from tests.postgresql import Cluster, find_binaries, run_cluster

# What PostgreSQL's own documentation advises for a machine with some gigabytes.
SETTINGS = {
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "30min",
    "maintenance_work_mem": "512MB",
    "max_connections": "200",
}


@contextmanager
def sample_company() -> Iterator[Cluster]:
    """Run a server with fsync, and let Django use it, with the sample company in it."""
    binaries = find_binaries()
    if binaries is None:
        raise SystemExit("No PostgreSQL was found.")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        run_cluster(binaries, Path(folder), fsync=True, **SETTINGS) as cluster,
    ):
        os.environ |= {
            "DATABASE_URL": cluster.url(database="postgres"),
            "BASE_URL": "https://invoices.example",
            "SECRET_KEY": "for-benchmarks-only-and-guarding-nothing-at-all-whatsoever",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        django.setup(set_prefix=False)
        from django.core.management import call_command  # noqa: PLC0415  models are loaded now
        from django.db import connections  # noqa: PLC0415  as above

        call_command("migrate", verbosity=0)
        call_command("load_sample_company", "--force", stdout=sys.stderr)
        try:
            yield cluster
        finally:
            connections.close_all()
