"""Where an act is held for another one: not twice where that would come to the same."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.functional import cached_property

from tests.races.footprints import (
    Footprint,
    add_up,
    find_ends,
    find_places,
    footprint_of,
)
from tests.races.outcomes import Alone, Meeting


@dataclass(frozen=True)
class Choice:
    """The meetings of two acts, of which the first is held at a place by `meet`.

    `alone` is what the first one does alone, and `other` the footprint of the second one.
    """

    meet: Callable[[int], Meeting]
    alone: Alone
    other: Footprint

    def meetings(self) -> Iterator[Meeting]:
        """Yield the meetings, of which each that is left out would be as one that is not."""
        for places in self._find_stretches():
            met = self.meet(places[0])
            yield met
            if places[1:] and not self._goes_on_alike(met, places[-1]):
                yield from self._meet_at(met, places[1:])

    @cached_property
    def _ends(self) -> frozenset[int]:
        return find_ends(self.alone.statements)

    def _has_end(self, begin: int, end: int) -> bool:
        return not self._ends.isdisjoint(range(begin, end))

    def _find_stretches(self) -> Iterator[Sequence[int]]:
        """Yield the places in stretches, of which each ends before something ends."""
        stretch: list[int] = []
        for place in find_places(self.alone.statements, self.other):
            if stretch and self._has_end(stretch[-1], place):
                yield stretch
                stretch = []
            stretch.append(place)
        if stretch:
            yield stretch

    def _meet_at(self, before: Meeting, places: Sequence[int]) -> Iterator[Meeting]:
        """Yield the meetings that are needed of these places, all of one stretch."""
        yield (first := self.meet(places[0]))
        if len(places) == 1 or self._goes_on_alike(first, places[-1]):
            return  # mostly it waits, since the first act has begun with a lock that both need
        yield (last := self.meet(places[-1]))
        if not self._end_alike(before, last):
            yield from self._meet_between(first, last, places[1:-1])

    def _meet_between(
        self, first: Meeting, last: Meeting, places: Sequence[int]
    ) -> Iterator[Meeting]:
        """Yield the meetings at places between two others, from one in between on."""
        if not places or self._goes_on_alike(first, last.place) or self._end_alike(first, last):
            return
        middle = len(places) // 4  # locks are mostly taken early
        yield (met := self.meet(places[middle]))
        yield from self._meet_between(first, met, places[:middle])
        yield from self._meet_between(met, last, places[middle + 1 :])

    def _goes_on_alike(self, met: Meeting, place: int) -> bool:
        """Return whether holding the first act here would come to the same as in that meeting."""
        if met.is_overtaken:
            return self._finds_the_same(met, place, may_write=False)
        return self._waits_alike(met, place)

    def _end_alike(self, first: Meeting, last: Meeting) -> bool:
        """Return whether the second act, done before or after all in between, changes none of it.

        In between it would then neither have to wait, nor change what the first one finds.
        """
        is_same = first.is_overtaken and last.is_overtaken and first.outcome == last.outcome
        return is_same and self._finds_the_same(first, last.place, may_write=True)

    def _finds_the_same(self, met: Meeting, place: int, *, may_write: bool) -> bool:
        """Return whether from that meeting on the first act found what it finds alone."""
        statements, found = self.alone.statements, self.alone.results
        if self._has_end(met.place, place):
            return False
        for each in range(met.place, place):
            footprint = footprint_of(statements[each])
            if footprint.taken and not may_write:
                return False
            if footprint.meets(self.other) and (
                found[each] is None or met.results[each : each + 1] != (found[each],)
            ):
                return False
        return True

    def _waits_alike(self, met: Meeting, place: int) -> bool:
        """Return whether the second act waits where it waited before, and so comes after the first.

        It does unless the first one has let go since, or has taken what the other takes earlier.
        """
        if met.waiting is None or self._has_end(met.place, place):
            return False
        taken = add_up(self.alone.statements[met.place : place]).taken
        return not taken & met.waiting.taken
