"""Where an act is held for another one: at each place that could tell something new."""

from collections.abc import Callable, Collection

from tests.races.choosing import Choice
from tests.races.footprints import COMMIT, Footprint, add_up
from tests.races.outcomes import Alone, Meeting, Outcome, Result

READ = "SELECT name FROM invoices_customer"
LOCK = "SELECT name FROM invoices_customer FOR UPDATE"
WRITE = "UPDATE invoices_customer SET name = ''"
OTHER = add_up([WRITE])
ACT = (READ, LOCK, WRITE, READ, WRITE, COMMIT)
FOUND: tuple[Result, ...] = ((1, b"as alone"),) * 5 + (None,)
ALONE = Alone(ACT, FOUND, "done")
NOTHING = add_up([])


def held_at(
    alone: Alone = ALONE,
    *,
    waits: Collection[int] = (),
    finds: tuple[Result, ...] = FOUND,
    leaves: Callable[[int], str] = lambda _: "the same",
    holds: Footprint = NOTHING,
) -> list[int]:
    """Return where the act is held for one that waits at some places, and else gets done.

    `finds` are the results of the held act's statements then, `leaves` what comes of both, and
    `holds` what the other one has taken when it waits.
    """

    def meet(place: int) -> Meeting:
        return Meeting(
            place=place,
            statement=alone.statements[place],
            outcome=Outcome({"first": leaves(place)}, {}),
            is_overtaken=place not in waits,
            waiting=holds if place in waits else None,
            comes_late=False,
            between_parts=False,
            results=finds,
        )

    return sorted(met.place for met in Choice(meet, alone, OTHER).meetings())


def test_where_both_ends_are_overtaken_and_nothing_changes_the_middle_is_left_out() -> None:
    assert held_at() == [0, 1, 5]


def test_where_the_other_act_waits_it_waits_until_the_commit() -> None:
    assert held_at(waits={1, 2, 3, 4, 5}) == [0, 1]


def test_the_first_place_at_which_the_other_act_waits_is_looked_for() -> None:
    assert {3, 4} <= set(held_at(waits={4, 5}))


def test_where_the_ends_leave_something_else_no_place_is_left_out() -> None:
    assert held_at(leaves=lambda place: f"{place}") == [0, 1, 2, 3, 4, 5]


def test_where_a_read_finds_something_else_the_place_behind_it_is_not_left_out() -> None:
    changed = (*FOUND[:3], (1, b"changed"), *FOUND[4:])
    assert {3, 4} <= set(held_at(finds=changed))


def test_where_a_result_is_not_known_the_place_behind_it_is_not_left_out() -> None:
    unknown: tuple[Result, ...] = (*FOUND[:3], None, *FOUND[4:])
    assert {3, 4} <= set(held_at(Alone(ACT, unknown, "done"), finds=unknown))


def test_where_each_could_wait_for_the_other_no_place_is_left_out() -> None:
    assert held_at(waits={1, 2, 3, 4, 5}, holds=OTHER) == [0, 1, 2, 3, 4, 5]


def test_behind_a_commit_the_act_is_held_again() -> None:
    twice = Alone((*ACT[:3], COMMIT, WRITE, COMMIT), (*FOUND[:3], None, FOUND[4], None), "done")
    assert {3, 4, 5} <= set(held_at(twice))
