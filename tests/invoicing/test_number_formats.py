"""How numbers are written, and the proof that two formats never write the same."""

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from invoicing.number_formats import NumberStyle, can_write_the_same

LONGEST = 9
# If two formats write one number, they write one whose years and values have these digits only: at
# each place the characters that a format allows are one of its prefix, or hold both or only the 2.
YEARS = ["".join(digits) for digits in product("02", repeat=4)]
styles = st.builds(
    NumberStyle,
    prefix=st.text("A-02", max_size=7),
    has_year=st.booleans(),
    digits=st.integers(1, 4),
)


def written(style: NumberStyle) -> set[str]:
    """Return by brute force what the format writes of such years and values."""
    values = {
        int("".join(digits))
        for length in range(1, LONGEST + 1 - style.head_length)
        for digits in product("02", repeat=length)
    }
    years = [int(year) for year in YEARS] if style.has_year else [0]
    numbers = {style.write(year, value) for year in years for value in values if value}
    return {number for number in numbers if len(number) <= LONGEST}


@pytest.mark.sqlite  # nothing here is kept in a database
@given(one=styles, other=styles)
@example(NumberStyle("A", has_year=True, digits=1), NumberStyle("A2020-", has_year=False, digits=2))
@example(NumberStyle("A", has_year=False, digits=1), NumberStyle("A0", has_year=False, digits=2))
@example(NumberStyle("A", has_year=False, digits=3), NumberStyle("A0", has_year=False, digits=2))
def test_two_formats_write_the_same_exactly_if_brute_force_finds_it(one, other):
    found = not written(one).isdisjoint(written(other))
    assert can_write_the_same(one, other, longest=LONGEST) == found
    assert can_write_the_same(other, one, longest=LONGEST) == found


@pytest.mark.sqlite  # as above
@pytest.mark.parametrize(
    ("prefix", "has_year", "digits", "number", "fits"),
    [
        ("INV-", True, 4, "INV-2026-0007", True),
        ("", False, 1, "7", True),
        ("RE/26.", False, 6, "RE/26.000007", True),
        ("ACME-INV-", True, 6, "ACME-INV-2026-000007", True),
        ("ACME-INV/-", True, 4, "ACME-INV/-2026-0007", False),
        ("ACME-INV-", True, 7, "ACME-INV-2026-0000007", False),
    ],
)
def test_a_number_has_its_prefix_its_year_and_its_digits(prefix, has_year, digits, number, fits):
    style = NumberStyle(prefix, has_year, digits)
    assert (style.write(2026, 7), style.fits) == (number, fits)
