"""Moments as the section writes them: to the second, and in one time zone, as evidence is."""

from datetime import UTC, datetime


def format_moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def format_minute(moment: datetime | None, *, never: str = "") -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else never
