"""Django's backend for PostgreSQL, with limits on every wait and connections that end in time."""

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

# PostgreSQL's settings that limit a request, but not a migration.
REQUEST_TIMEOUTS = ("statement_timeout", "idle_in_transaction_session_timeout")
# One of this process for each database.
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
        self.connection.connection.receive_timeout = None
        return self


class DatabaseWrapper(base.DatabaseWrapper):
    """Checks a connection without a query, and closes it when its thread ends.

    When the server has closed a connection, there is something to read: an error, or the end. On
    an idle one there is not. So the check before each request (CONN_HEALTH_CHECKS) needs no round
    trip, and still finds the connections that a restart of the database has closed.

    Django's own pool (`"pool"`, of psycopg_pool) does not take the place of this. It closes what a
    thread leaves; but each thread that asks a silent server waits for the pool's time-out, again
    and again; it does not give up a query that hangs; and its check before each request is a round
    trip.
    """

    Database = driver
    SchemaEditorClass = DatabaseSchemaEditor

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._thread_local = local()

    @override
    def get_connection_params(self) -> dict[str, Any]:
        """Return libpq's parameters, without our own options `session` and `receive_timeout`."""
        params: dict[str, Any] = super().get_connection_params()
        params.pop("session", None)
        params.pop("receive_timeout", None)
        return params

    @override
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open a connection that is closed when this thread ends.

        WSGI servers end idle threads. Django's objects refer to each other, so the connections
        that these leave open would wait for the garbage collector, while new threads open more
        than PostgreSQL allows.
        """
        with _breakers[self.alias].attempt():
            connection = super().get_new_connection(conn_params | {"autocommit": True})
        self._thread_local.end = _Closer(connection)
        connection.receive_timeout = self.settings_dict["OPTIONS"].get("receive_timeout")
        self._begin_session(connection)
        return connection

    def _begin_session(self, connection: Any) -> None:
        """Set the session's settings by a query, since poolers refuse them as startup options."""
        settings = self.settings_dict["OPTIONS"].get("session", {})
        made = ", ".join(["set_config(%s, %s, false)"] * len(settings))
        connection.execute(f"SELECT {made}", [*chain.from_iterable(settings.items())])

    @override
    def is_usable(self) -> bool:
        return self.connection is not None and (self._has_nothing_to_read() or super().is_usable())

    def _has_nothing_to_read(self) -> bool:
        """Return whether the connection is open and its socket has nothing to read."""
        if self.connection.closed:
            return False
        watch = poll()
        watch.register(self.connection.fileno(), POLLIN)
        return not watch.poll(0)


class _Closer:
    """Closes a connection when deleted itself, as at the end of the thread that alone refers to it.

    Not in a forked process: it has only one of the threads, and the connections are its parent's.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._process = os.getpid()

    def __del__(self) -> None:
        if os.getpid() == self._process:
            self._connection.close()
