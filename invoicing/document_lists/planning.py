"""How the statements of lists are planned."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection


@contextmanager
def plan_each_time() -> Iterator[None]:
    """Have PostgreSQL plan each statement within for its own values.

    A statement that was prepared gets one plan for all values after some uses: without a partial
    index, and as if every filter left as much. Of a million documents that one takes seconds.
    """
    if connection.vendor != "postgresql":
        yield
        return
    connection.ensure_connection()
    held: Any = connection.connection
    threshold, held.prepare_threshold = held.prepare_threshold, None
    try:
        yield
    finally:
        held.prepare_threshold = threshold
