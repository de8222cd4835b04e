"""A circuit breaker: while a server is silent, one thread of the process waits for it at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic

from psycopg import OperationalError

# A running server, or a machine without one, answers sooner.
PROMPT_SECONDS = 1.0


class CircuitBreaker:
    """Lets all threads connect to a server that answers, and one at a time to a silent one.

    Otherwise all the threads that serve requests would soon wait for it, and everybody else, the
    probes too, behind them, for as long as the server is away.
    """

    def __init__(self) -> None:
        self._is_silent = False
        self._turn = Lock()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Enclose an attempt to connect.

        Raises OperationalError, without an attempt, while another thread waits for a silent server.
        """
        in_turn = self._is_silent
        if in_turn and not self._turn.acquire(blocking=False):
            raise OperationalError("the server is silent, and another thread waits for it already")
        begun = monotonic()
        try:
            yield
            self._is_silent = False
        except OperationalError:
            self._is_silent = monotonic() - begun > PROMPT_SECONDS
            raise
        finally:
            if in_turn:
                self._turn.release()
