"""Numbers with a few decimals, held as an integer: mostly of ten-thousandths, so with four."""

import re

DECIMALS = 4
SCALE = 10_000

_PATTERN = re.compile(r"(0|[1-9][0-9]*)(?:\.([0-9]+))?", re.ASCII)


def parse_fixed_point(text: str, *, decimals: int = DECIMALS) -> int:
    """Return a number as an integer of its last decimal: "1.5" is 15000 with four.

    Raises ValueError for every other notation: signs, exponents, separators, leading zeros.
    """
    match = _PATTERN.fullmatch(text)
    if match is None or len(match[2] or "") > decimals:
        raise ValueError(f"not a decimal number with at most {decimals} decimals")
    whole, fraction = match.groups(default="")
    return int(whole + fraction.ljust(decimals, "0"))


def format_fixed_point(value: int, *, decimals: int = DECIMALS) -> str:
    """Return the shortest notation: with four decimals, 15000 is "1.5" and 190000 "19"."""
    sign = "-" if value < 0 else ""
    whole, fraction = divmod(abs(value), 10**decimals)
    if not fraction:
        return f"{sign}{whole}"
    return f"{sign}{whole}.{fraction:0{decimals}d}".rstrip("0")
