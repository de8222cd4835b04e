"""Moments as this section shows them: in UTC, to the second or to the minute."""

from datetime import UTC, datetime


def format_moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def format_minute(moment: datetime | None, *, never: str = "") -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else never
