"""Numbers with at most four decimals, held as an integer of ten-thousandths."""

import re

DECIMALS = 4
SCALE = 10_000

_PATTERN = re.compile(r"(0|[1-9][0-9]*)(?:\.([0-9]{1,4}))?", re.ASCII)


def parse_fixed_point(text: str) -> int:
    """Return a number in ten-thousandths: "1.5" is 15000.

    Raises ValueError for every other notation: signs, exponents, separators, leading zeros.
    """
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise ValueError("not a decimal number with at most four decimals")
    whole, decimals = match.groups(default="")
    return int(whole) * SCALE + int(decimals.ljust(DECIMALS, "0"))


def format_fixed_point(value: int) -> str:
    """Return the shortest notation of the ten-thousandths: 15000 is "1.5", 190000 is "19"."""
    sign = "-" if value < 0 else ""
    whole, decimals = divmod(abs(value), SCALE)
    if not decimals:
        return f"{sign}{whole}"
    return f"{sign}{whole}.{decimals:0{DECIMALS}d}".rstrip("0")
