"""Who may wait for a server that does not answer: of the threads of a process one at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic

from psycopg import OperationalError

# A server that is there, or a machine without one, says so at once.
PROMPT_SECONDS = 1.0


class CircuitBreaker:
    """The way to one server, at which nobody stands in line while nobody opens.

    The threads that would wait are those that serve: with all of them taken everybody else, the
    probes too, waited behind them for as long as the server is away.
    """

    def __init__(self) -> None:
        self._is_silent = False
        self._turn = Lock()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Let a thread try to connect; raise OperationalError while another one tries in vain."""
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
