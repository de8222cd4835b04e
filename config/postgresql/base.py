"""Django's PostgreSQL: how a connection begins and ends, and how long one waits for the server."""

import os
from collections import defaultdict
from itertools import chain
from select import POLLIN, poll
from threading import local
from typing import Any, Self

from django.db.backends.postgresql import base, schema
from typing_extensions import override

from config.postgresql import driver
from config.postgresql.circuit_breaker import CircuitBreaker

# What a request may not wait for or leave waiting, but a migration may; PostgreSQL's names.
REQUEST_TIMEOUTS = ("statement_timeout", "idle_in_transaction_session_timeout")
# Of this process to each server.
_breakers: defaultdict[str, CircuitBreaker] = defaultdict(CircuitBreaker)


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    """A migration may take as long as it takes: an index on a large table is one statement.

    How long it waits for a lock stays limited, since every request waits behind it.
    """

    @override
    def __enter__(self) -> Self:
        super().__enter__()
        with self.connection.cursor() as cursor:
            for setting in REQUEST_TIMEOUTS:
                cursor.execute("SELECT set_config(%s, '0', %s)", [setting, self.atomic_migration])
        self.connection.connection.patience = None
        return self


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that the server ended has something to read: its last word, or the end.

    One that lies idle has not. So the check before each request (CONN_HEALTH_CHECKS) costs no
    question and answer, and still finds what a restart of the database left behind.
    """

    Database = driver
    SchemaEditorClass = DatabaseSchemaEditor

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._thread_local = local()

    @override
    def get_connection_params(self) -> dict[str, Any]:
        """Return what libpq is told, which knows nothing of the session and of our patience."""
        params: dict[str, Any] = super().get_connection_params()
        params.pop("session", None)
        params.pop("patience", None)
        return params

    @override
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open a connection that is closed when this thread ends.

        A server ends threads that lie idle. Django's objects hold each other, so what they leave
        open waits for the collector, while new threads open more than PostgreSQL may allow.
        """
        with _breakers[self.alias].attempt():
            connection = super().get_new_connection(conn_params | {"autocommit": True})
        self._thread_local.end = _Closer(connection)
        connection.patience = self.settings_dict["OPTIONS"].get("patience")
        self._begin_session(connection)
        return connection

    def _begin_session(self, connection: Any) -> None:
        """Make the settings of the session, here since a pooler refuses them as start options."""
        settings = self.settings_dict["OPTIONS"].get("session", {})
        made = ", ".join(["set_config(%s, %s, false)"] * len(settings))
        connection.execute(f"SELECT {made}", [*chain.from_iterable(settings.items())])

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


class _Closer:
    """Closes a connection once nobody holds this, as when the thread is over that alone did.

    A forked process has none of the other threads, and their connections stay with its parent.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._process = os.getpid()

    def __del__(self) -> None:
        if os.getpid() == self._process:
            self._connection.close()
