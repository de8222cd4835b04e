"""Whether the database's tables are those of this version."""

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def lacks_migrations() -> bool:
    """Return whether a migration of this version is missing.

    Tables that are newer than this process are no fault: the next version migrated them.
    """
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def predates_squash(database: BaseDatabaseWrapper) -> bool:
    """Return whether the database is older than the migrations with which this version begins.

    Where one took the place of several, only the version that still has these can finish them.
    """
    applied = set(MigrationRecorder(database).applied_migrations())
    begun = {app for app, _ in applied}
    known = MigrationLoader(None).disk_migrations
    there = applied.union(known)
    return any(
        migration.initial and app in begun and not there.issuperset(migration.replaces)
        for (app, name), migration in known.items()
        if (app, name) not in applied
    )
