"""Django's PostgreSQL: when it asks whether the server lives, how long a migration may run."""

from select import POLLIN, poll
from typing import Self

from django.db.backends.postgresql import base, schema
from typing_extensions import override


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    """A migration may take as long as it takes: an index on a large table is one statement.

    How long it waits for a lock stays limited, since every request waits behind it.
    """

    @override
    def __enter__(self) -> Self:
        super().__enter__()
        with self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('statement_timeout', '0', %s)", [self.atomic_migration]
            )
        return self


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that the server ended has something to read: its last word, or the end.

    One that lies idle has not. So the check before each request (CONN_HEALTH_CHECKS) costs no
    question and answer, and still finds what a restart of the database left behind.
    """

    SchemaEditorClass = DatabaseSchemaEditor

    @override
    def is_usable(self) -> bool:
        return self.connection is not None and (self._is_silent() or super().is_usable())

    def _is_silent(self) -> bool:
        """Tell whether an open connection has nothing to read."""
        if self.connection.closed:
            return False
        watch = poll()
        watch.register(self.connection.fileno(), POLLIN)
        return not watch.poll(0)
