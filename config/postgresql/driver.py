"""psycopg as Django asks for it, with connections that do not wait for a server for ever."""

from typing import Any

from psycopg import *  # noqa: F403  the exceptions, which Django looks up here
from psycopg import Connection, OperationalError
from psycopg.pq import TransactionStatus
from typing_extensions import override


class PatientConnection(Connection[Any]):
    """Gives a server up that stands still while its machine confirms whatever is sent to it.

    It may hang in its disk, or wait for a standby to have the commit. Neither the limits that it
    keeps itself nor TCP's own say anything then. Without `patience`, in seconds, there is no end.
    """

    patience: float | None = None

    @override
    def wait(self, *args: Any, **options: Any) -> Any:
        try:
            return super().wait(*args, **{"timeout": self.patience, **options})
        except OperationalError:
            # The answer may still come, and would be taken for that to another question.
            if self.info.transaction_status == TransactionStatus.ACTIVE:
                self.close()
            raise


connect = PatientConnection.connect
