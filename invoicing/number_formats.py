"""How the numbers of documents are written, and whether two formats can ever write the same."""

import re
from collections.abc import Iterator
from typing import NamedTuple

NUMBER_LENGTH = 20
MOST_DIGITS = 10
# A format is refused that has no room for a million numbers.
LEAST_ROOM = 6
# A letter or digit first: what begins with a sign is a formula in a spreadsheet.
PREFIX_PATTERN = r"^[A-Z0-9][A-Z0-9./_-]*$"

_DIGITS = "0123456789"
# The characters that may stand at each place of a number.
_Places = list[str]


class NumberStyle(NamedTuple):
    """A prefix, the year if there is one, and the value with at least so many digits.

    "INV-", with the year and 4 digits, makes INV-2026-0001.
    """

    prefix: str
    has_year: bool
    digits: int

    def write(self, year: int, value: int) -> str:
        year_part = f"{year:04d}-" if self.has_year else ""
        return f"{self.prefix}{year_part}{value:0{self.digits}d}"

    @property
    def head_length(self) -> int:
        """How many characters stand before the value."""
        return len(self.prefix) + (len("2026-") if self.has_year else 0)

    @property
    def fits(self) -> bool:
        return self.head_length + max(self.digits, LEAST_ROOM) <= NUMBER_LENGTH

    @property
    def pattern(self) -> str:
        """A regular expression of its numbers, for Python and both databases."""
        year_part = "[0-9]{4}-" if self.has_year else ""
        more = rf"|[1-9][0-9]{{{self.digits},{MOST_DIGITS}}}"
        return rf"^{re.escape(self.prefix)}{year_part}([0-9]{{{self.digits}}}{more})$"


def can_write_the_same(
    one: NumberStyle, other: NumberStyle, *, longest: int = NUMBER_LENGTH
) -> bool:
    """Return whether there is a number of at most `longest` characters that both can write.

    Each format counts for itself, in any years, of four digits. Proof: the numbers of a format
    that have a given length are those that have at each place one of the characters that it allows
    there, and whose value is not 0: a digit more than the least ones means that the first is not 0.
    So two formats write no number in common of that length if at some place they allow no character
    in common. Otherwise any choice of common characters is a number of both, if its values are not
    0, and they need not be: both end in the value, whose last place allows the digits from 1 on.
    """
    places = {len(each): each for each in _places_by_length(one, longest)}
    return any(
        all(set(here) & set(there) for here, there in zip(places[len(each)], each, strict=True))
        for each in _places_by_length(other, longest)
        if len(each) in places
    )


def _places_by_length(style: NumberStyle, longest: int) -> Iterator[_Places]:
    head = [*style.prefix, *([*[_DIGITS] * 4, "-"] if style.has_year else [])]
    for digits in range(style.digits, longest - len(head) + 1):
        first = _DIGITS if digits == style.digits else _DIGITS[1:]
        yield [*head, first, *[_DIGITS] * (digits - 1)]
