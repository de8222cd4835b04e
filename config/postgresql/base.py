"""Django's PostgreSQL, which asks the server whether it lives only if the socket gives a reason."""

from select import POLLIN, poll

from django.db.backends.postgresql import base
from typing_extensions import override


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that the server ended has something to read: its last word, or the end.

    One that lies idle has not. So the check before each request (CONN_HEALTH_CHECKS) costs no
    question and answer, and still finds what a restart of the database left behind.
    """

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
