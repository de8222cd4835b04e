"""Moments as this section shows them: in Django's current time zone, which is named.

The project activates that of the person who looks; otherwise it is its TIME_ZONE.
"""

from datetime import datetime

from django.utils.timezone import localtime


def format_moment(moment: datetime) -> str:
    return f"{localtime(moment):%Y-%m-%d %H:%M:%S %Z}"


def format_minute(moment: datetime | None, *, never: str = "") -> str:
    return f"{localtime(moment):%Y-%m-%d %H:%M %Z}" if moment else never
