"""Numbers as a person types them, parsed to integers; an ambiguous one is refused."""

import re

_TYPED = re.compile(r"([0-9]+)(?:([.,])([0-9]+))?", re.ASCII)
_THOUSAND = 3


class MistypedNumberError(ValueError):
    """The text is no number, or an ambiguous one; the message says what to write."""


def parse_typed(text: str, *, decimals: int) -> int:
    """Return the number in units of its last decimal: "12.5" with two decimals is 1250.

    The decimal sign is a dot or a comma; "1,234" is refused, since it can mean both. Raises
    MistypedNumberError.
    """
    match = _TYPED.fullmatch(text.strip())
    if match is None:
        raise MistypedNumberError("Write digits, and a dot before decimals: 1234.50")
    whole, mark, fraction = match.groups(default="")
    if mark == "," and len(fraction) == _THOUSAND:
        raise MistypedNumberError("This can be read in two ways. Write 1234 or 1.234 instead.")
    if len(fraction) > decimals:
        raise MistypedNumberError(
            f"Write at most {decimals} decimals." if decimals else "Write no decimals here."
        )
    return int(whole + fraction.ljust(decimals, "0"))


def format_typed(value: int, *, decimals: int) -> str:
    """Return the number as parse_typed() reads it: 1250 with two decimals is "12.50"."""
    if not decimals:
        return str(value)
    whole, fraction = divmod(value, 10**decimals)
    return f"{whole}.{fraction:0{decimals}d}"
