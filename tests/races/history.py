"""What many callers were told at once, and what of it no order of their calls explains.

A call is recorded with the moments at which it was sent and answered, on one clock. Where one ended
before another began, everybody saw them in that order, and so must the database have them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar


class Issued(NamedTuple):
    """A number that somebody was told: its series, and the value in there."""

    begun: float
    ended: float
    series: str
    value: int


class Written(NamedTuple):
    """A call whose event is in this chain, as its caller was told."""

    begun: float
    ended: float
    chain: str


class Head(NamedTuple):
    """The end of a chain, as somebody read it."""

    begun: float
    ended: float
    chain: str
    sequence: int
    digest: str


@dataclass(kw_only=True)
class History:
    """All that was answered, and what is stored at the end.

    `numbers` are the values in each series, `digests` those of each chain by sequence; `beginnings`
    are the lengths of the chains before anybody called.
    """

    issued: list[Issued] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    heads: list[Head] = field(default_factory=list)
    beginnings: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, Sequence[int]] = field(default_factory=dict)
    digests: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.issued) + len(self.written) + len(self.heads)


_Call = TypeVar("_Call", Issued, Written, Head)


def find_anomalies(history: History) -> list[str]:
    """Return what is wrong, in a sentence each."""
    return [*_find_wrong_numbers(history), *_find_wrong_heads(history)]


def _find_wrong_numbers(history: History) -> Iterator[str]:
    for series, stored in history.numbers.items():
        if sorted(stored) != [*range(1, len(stored) + 1)]:
            yield f"{series} has a gap, or a number twice: {sorted(stored)}"
    told = Counter((each.series, each.value) for each in history.issued)
    for (series, value), count in told.items():
        if count > 1:
            yield f"{value} of {series} was given to {count} callers"
        if value not in history.numbers.get(series, ()):
            yield f"{value} of {series} was given, and is not stored"
    for earlier, later in _in_order(history.issued, key="series"):
        if earlier.value >= later.value:
            yield f"{later.value} of {later.series} was asked for after {earlier.value} was given"


def _find_wrong_heads(history: History) -> Iterator[str]:
    for head in history.heads:
        stored = history.digests.get(head.chain, {}).get(head.sequence, "")
        if head.sequence and stored != head.digest:
            yield f"{head.chain} forks, or was rewritten, at {head.sequence}"
        before = [each for each in history.written if each.ended < head.begun]
        answered = sum(each.chain == head.chain for each in before)
        least = history.beginnings.get(head.chain, 0) + answered
        if head.sequence < least:
            yield f"{head.chain} ended at {head.sequence}, and {least} events had been answered"
    for earlier, later in _in_order(history.heads, key="chain"):
        if earlier.sequence > later.sequence:
            yield f"{later.chain} was shorter after it had {earlier.sequence} events"
    for chain, digests in history.digests.items():
        if sorted(digests) != [*range(1, len(digests) + 1)]:
            yield f"{chain} has a gap"


def _in_order(calls: Sequence[_Call], *, key: str) -> Iterator[tuple[_Call, _Call]]:
    """Yield each call after the largest of those that had ended when it began, by the key."""
    groups: dict[str, list[_Call]] = defaultdict(list)
    for call in calls:
        groups[getattr(call, key)].append(call)
    for group in groups.values():
        by_end = iter(sorted(group, key=lambda each: each.ended))
        ended, largest = next(by_end, None), None
        for call in sorted(group, key=lambda each: each.begun):
            while ended is not None and ended.ended < call.begun:
                largest = ended if largest is None else max(largest, ended, key=_place)
                ended = next(by_end, None)
            if largest is not None:
                yield largest, call


def _place(call: Issued | Written | Head) -> int:
    match call:
        case Issued():
            return call.value
        case Head():
            return call.sequence
    return 0
