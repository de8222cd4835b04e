"""The time zones among which people choose where they are."""

from functools import cache
from zoneinfo import available_timezones

# Names in the IANA database that say nothing to another machine.
NO_ZONES = {"localtime", "Factory"}


@cache  # its files take 30 ms to read
def zone_names() -> list[str]:
    """Return the names of the IANA database, sorted: "Europe/Berlin"."""
    return sorted(available_timezones() - NO_ZONES)
