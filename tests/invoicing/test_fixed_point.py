import pytest
from hypothesis import given
from hypothesis import strategies as st

from invoicing.fixed_point import format_fixed_point, parse_fixed_point


@pytest.mark.parametrize(
    ("text", "value", "canonical"),
    [
        ("1", 10_000, "1"),
        ("0", 0, "0"),
        ("0.0001", 1, "0.0001"),
        ("1.50", 15_000, "1.5"),
        ("8.875", 88_750, "8.875"),
        ("100", 1_000_000, "100"),
        ("99999999999.9999", 999_999_999_999_999, "99999999999.9999"),
    ],
)
def test_a_number_is_read_exactly_and_written_in_its_shortest_form(text, value, canonical) -> None:
    assert parse_fixed_point(text) == value
    assert format_fixed_point(value) == canonical


@given(st.integers(min_value=0, max_value=10**15))
def test_what_is_written_is_read_back(value) -> None:
    assert parse_fixed_point(format_fixed_point(value)) == value


def test_a_negative_number_keeps_its_sign() -> None:
    assert format_fixed_point(-5_000) == "-0.5"
