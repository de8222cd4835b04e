"""Numbers as a person types them, parsed to integers; an ambiguous one is refused."""

import re

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from invoicing.languages import locale_of, page_language

_TYPED = re.compile(r"([0-9]+)(?:([.,])([0-9]+))?", re.ASCII)
# A dot or a comma right here may separate thousands: "1.500", but neither "0.500" nor "1234.500".
_GROUPED = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}", re.ASCII)
# Both signs, or one of them several times: then it is certain which separates thousands.
_CERTAINLY_GROUPED = re.compile(
    r"[1-9][0-9]{0,2}(?:(?:\.[0-9]{3})+,[0-9]+|(?:,[0-9]{3})+\.[0-9]+"
    r"|(?:\.[0-9]{3}){2,}|(?:,[0-9]{3}){2,})",
    re.ASCII,
)
_THOUSAND_DIGITS = 3
# By the decimal sign of the page's language.
_DIGITS = {
    ".": gettext_noop(
        "Write digits, and a dot before decimals: 1234.50, without spaces or other signs."
    ),
    ",": gettext_noop(
        "Write digits, and a comma before decimals: 1234,50, without spaces or other signs."
    ),
}


class MistypedNumberError(ValidationError):
    """The text is no number, or an ambiguous one; the message says what to write."""


def parse_typed(text: str, *, decimals: int, is_percentage: bool = False) -> int:
    """Return the number in units of its last decimal: "12.5" with two decimals is 1250.

    The decimal sign is a dot or a comma, in each language. Thousands may be separated by the other
    one: "1,234.50" and "1.234,50" are one number each. "1.500" and "1,500" are refused, since they
    can mean fifteen hundred as well; but the page's own decimal sign begins the decimals of a
    percentage, which is never so large, and of amounts that always have three decimals. Raises
    MistypedNumberError.
    """
    typed = _without_groups(text.strip())
    match = _TYPED.fullmatch(typed)
    if match is None:
        raise MistypedNumberError(_(_DIGITS[_decimal_sign()]))
    whole, mark, fraction = match.groups(default="")
    is_usual = mark == _decimal_sign() and (is_percentage or decimals == _THOUSAND_DIGITS)
    if _GROUPED.fullmatch(typed) and not is_usual:
        raise MistypedNumberError(_name_both(whole, fraction, decimals))
    if len(fraction) > decimals:
        raise MistypedNumberError(_limit(decimals))
    return int(whole + fraction.ljust(decimals, "0"))


def _without_groups(typed: str) -> str:
    """Return the number without signs that certainly separate thousands.

    What is left of its decimals has not the form of thousands: "1.234,500" becomes "1234,500".
    """
    if not _CERTAINLY_GROUPED.fullmatch(typed):
        return typed
    sign = next(each for each in typed if not each.isdigit())
    return typed.replace(sign, "")


def _decimal_sign() -> str:
    """Return how the page's language writes the decimal sign: a dot, or a comma."""
    symbols = locale_of(page_language()).number_symbols["latn"]
    return "," if symbols["decimal"] == "," else "."


def write_number(number: str) -> str:
    """Return a decimal string with the decimal sign of the page's language."""
    return number.replace(".", _decimal_sign())


def _name_both(whole: str, fraction: str, decimals: int) -> str:
    """Return how to write each of the two numbers that are meant, if it can be accepted."""
    large = whole + fraction
    fraction = fraction.rstrip("0")
    if len(fraction) > decimals:
        only = _("This can be read in two ways. Write %(large)s if you mean that.")
        return f"{only % {'large': large}} {_limit(decimals)}"
    small = f"{whole}.{fraction}" if fraction else whole
    return _("This can be read in two ways. Write %(large)s or %(small)s.") % {
        "large": large,
        "small": avoid_grouping(small, decimals=decimals),
    }


def _limit(decimals: int) -> str:
    if not decimals:
        return _("Write no decimals here.")
    return ngettext(
        "Write at most %(count)d decimal.", "Write at most %(count)d decimals.", decimals
    ) % {"count": decimals}


def avoid_grouping(number: str, *, decimals: int) -> str:
    """Return a decimal string as parse_typed() reads it, in the notation of the page's language.

    With four decimals "1.234" is "1.2340", in German "1,2340"; "" stays empty.
    """
    is_refused = decimals > _THOUSAND_DIGITS and _GROUPED.fullmatch(number)
    return write_number(f"{number}0" if is_refused else number)


def format_typed(value: int, *, decimals: int) -> str:
    """Return the number as parse_typed() reads it: 1250 with two decimals is "12.50"."""
    if not decimals:
        return str(value)
    whole, fraction = divmod(value, 10**decimals)
    return write_number(f"{whole}.{fraction:0{decimals}d}")
