"""A small chart of bars, in whole units of the picture in which a template draws it."""

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, GAP = 16, 4
HEIGHT = 64
# What is not nothing is seen.
LEAST = 1


class Bar(NamedTuple):
    """A rectangle, whose place is measured from the top left."""

    x: int
    y: int
    width: int
    height: int
    is_last: bool


class Bars(NamedTuple):
    """A chart: its size, the height of the line of zero, and its bars."""

    width: int
    height: int
    zero: int
    bars: list[Bar]


def draw_bars(amounts: Sequence[int]) -> Bars:
    """Return a bar for each amount, upwards or, below zero, downwards, in one scale."""
    highest, lowest = max(0, *amounts), min(0, *amounts)
    span = (highest - lowest) or 1
    zero = HEIGHT * highest // span if highest or lowest else HEIGHT
    bars = []
    for number, amount in enumerate(amounts):
        height = max(HEIGHT * abs(amount) // span, LEAST if amount else 0)
        top = min(max(zero - height, 0) if amount > 0 else zero, HEIGHT - height)
        bars.append(Bar(number * (WIDTH + GAP), top, WIDTH, height, number == len(amounts) - 1))
    return Bars(len(amounts) * (WIDTH + GAP) - GAP, HEIGHT, zero, bars)
