"""psycopg as Django imports it, with connections that have a receive time-out."""

from typing import Any

from psycopg import *  # noqa: F403  the exceptions, which Django looks up here
from psycopg import Connection, OperationalError
from psycopg.pq import TransactionStatus
from typing_extensions import override


class TimeoutConnection(Connection[Any]):
    """Gives up on a server that hangs while its machine still confirms whatever is sent to it.

    It may hang on its disk, or wait for a standby to confirm a commit. Then neither its own
    time-outs nor TCP's help. `receive_timeout` is in seconds; None waits without limit.
    """

    receive_timeout: float | None = None

    @override
    def wait(self, *args: Any, **options: Any) -> Any:
        try:
            return super().wait(*args, **{"timeout": self.receive_timeout, **options})
        except OperationalError:
            # The answer may still come, and would be taken for that to the next query.
            if self.info.transaction_status == TransactionStatus.ACTIVE:
                self.close()
            raise


connect = TimeoutConnection.connect
