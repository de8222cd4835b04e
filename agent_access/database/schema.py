"""Whether the database's tables are those of this version."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def lacks_migrations() -> bool:
    """Tell whether a migration of this version is missing.

    Tables that are newer than this process are no fault: the next version migrated them.
    """
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
