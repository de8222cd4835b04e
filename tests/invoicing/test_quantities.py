"""The quantity as the schema tells it is the quantity that is taken."""

import re
from decimal import Decimal

from invoicing.field_kinds import QUANTITY_PATTERN
from invoicing.fixed_point import parse_fixed_point


def test_the_pattern_has_every_positive_quantity_and_no_zero():
    texts = [
        f"{whole}.{part:04d}"[:length]
        for whole in (0, 7)
        for part in range(10_000)
        for length in (1, 3, 4, 5, 6)
    ]
    assert [
        text
        for text in set(texts)
        if bool(re.fullmatch(QUANTITY_PATTERN, text)) != (Decimal(text) > 0)
    ] == []
    assert parse_fixed_point("0.0001") == 1


def test_the_pattern_has_eleven_digits_at_most_and_no_other_notation():
    taken = [
        text
        for text in ("99999999999", "100000000000", "01", "1.", ".5", "1.00000", "+1", "1e1", "1\n")
        if re.fullmatch(QUANTITY_PATTERN, text)
    ]
    assert taken == ["99999999999"]
