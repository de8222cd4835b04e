"""Numbers as a person types them, parsed to integers; an ambiguous one is refused."""

import re

from django.core.exceptions import ValidationError

_TYPED = re.compile(r"([0-9]+)(?:([.,])([0-9]+))?", re.ASCII)
# A dot or a comma right here may separate thousands: "1.500", but neither "0.500" nor "1234.500".
_GROUPED = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}", re.ASCII)
_THOUSAND_DIGITS = 3


class MistypedNumberError(ValidationError):
    """The text is no number, or an ambiguous one; the message says what to write."""


def parse_typed(text: str, *, decimals: int, is_percentage: bool = False) -> int:
    """Return the number in units of its last decimal: "12.5" with two decimals is 1250.

    The decimal sign is a dot or a comma. "1.500" and "1,500" are refused, since they can mean
    fifteen hundred as well; but a dot begins the decimals of a percentage, which is never so large,
    and of amounts that always have three decimals. Raises MistypedNumberError.
    """
    typed = text.strip()
    match = _TYPED.fullmatch(typed)
    if match is None:
        raise MistypedNumberError(
            "Write digits, and a dot before decimals: 1234.50, without spaces or other signs."
        )
    whole, mark, fraction = match.groups(default="")
    is_usual = mark == "." and (is_percentage or decimals == _THOUSAND_DIGITS)
    if _GROUPED.fullmatch(typed) and not is_usual:
        raise MistypedNumberError(_name_both(whole, fraction, decimals))
    if len(fraction) > decimals:
        raise MistypedNumberError(_limit(decimals))
    return int(whole + fraction.ljust(decimals, "0"))


def _name_both(whole: str, fraction: str, decimals: int) -> str:
    """Return how to write each of the two numbers that are meant, if it can be accepted."""
    question, large = "This can be read in two ways.", whole + fraction
    fraction = fraction.rstrip("0")
    if len(fraction) > decimals:
        return f"{question} Write {large} if you mean that. {_limit(decimals)}"
    small = f"{whole}.{fraction}" if fraction else whole
    return f"{question} Write {large} or {avoid_grouping(small, decimals=decimals)}."


def _limit(decimals: int) -> str:
    return f"Write at most {decimals} decimals." if decimals else "Write no decimals here."


def avoid_grouping(number: str, *, decimals: int) -> str:
    """Return a decimal string as parse_typed() reads it: with four decimals "1.234" is "1.2340"."""
    is_refused = decimals > _THOUSAND_DIGITS and _GROUPED.fullmatch(number)
    return f"{number}0" if is_refused else number


def format_typed(value: int, *, decimals: int) -> str:
    """Return the number as parse_typed() reads it: 1250 with two decimals is "12.50"."""
    if not decimals:
        return str(value)
    whole, fraction = divmod(value, 10**decimals)
    return f"{whole}.{fraction:0{decimals}d}"
