"""The time by which what soon expires is judged: one clock, however many machines serve."""

from datetime import datetime

from django.db import connection
from django.utils import timezone


def read_clock() -> datetime:
    """Return what the clock of the database says, or of this machine, which SQLite shares.

    A machine whose clock is wrong, or is just being set, so makes nothing last longer or shorter,
    and puts nothing into another order. It is the time of this moment, also within a transaction.
    """
    return _ask_database() if connection.vendor == "postgresql" else timezone.now()


def _ask_database() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [(now,)] = cursor.fetchall()
    told: datetime = now
    return told
