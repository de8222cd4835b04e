"""Histories of many callers: the checker finds what is wrong in one, and nothing in a real one."""

import json
import os
from pathlib import Path

import pytest

from tests.races.crowd import watch_crowd
from tests.races.history import Head, History, Issued, Written, find_anomalies
from tests.races.staging import as_staged, set_stage

TALLY = os.environ.get("RACES_TALLY", "")
SECONDS = float(os.environ.get("RACES_HISTORY_SECONDS", "1"))


@pytest.mark.postgresql  # SQLite has one writer
@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("issue.numbers_and_freezes")
def test_what_a_crowd_is_told_is_what_one_order_of_its_calls_leaves() -> None:
    with as_staged():
        history = watch_crowd(set_stage(), seconds=SECONDS)
    anomalies = find_anomalies(history)
    if TALLY:
        with Path(TALLY).open("a", encoding="utf-8") as tally:
            tally.write(json.dumps({"calls": len(history), "findings": anomalies}) + "\n")
    assert anomalies == []
    assert history.issued
    assert history.heads


def sound() -> History:
    """Two numbers and three events of a chain, all in the order of their calls."""
    return History(
        issued=[Issued(1, 2, "INV", 1), Issued(3, 4, "INV", 2)],
        written=[Written(1, 2, "chain"), Written(3, 4, "chain")],
        heads=[Head(2.1, 2.2, "chain", 2, "b"), Head(5, 6, "chain", 3, "c")],
        numbers={"INV": [2, 1]},
        digests={"chain": {1: "a", 2: "b", 3: "c"}},
    )


def test_a_history_that_one_order_explains_has_no_anomaly() -> None:
    assert find_anomalies(sound()) == []


def test_calls_that_overlap_may_be_in_either_order() -> None:
    history = sound()
    history.issued = [Issued(1, 4, "INV", 2), Issued(3, 5, "INV", 1)]
    assert find_anomalies(history) == []


def test_a_number_that_is_given_twice_is_an_anomaly() -> None:
    history = sound()
    history.issued.append(Issued(3.5, 4.5, "INV", 2))
    assert find_anomalies(history) == ["2 of INV was given to 2 callers"]


def test_a_number_that_is_lost_after_it_was_given_is_an_anomaly() -> None:
    history = sound()
    history.numbers = {"INV": [1]}
    assert find_anomalies(history) == ["2 of INV was given, and is not stored"]


def test_a_gap_in_the_numbers_is_an_anomaly() -> None:
    history = sound()
    history.numbers = {"INV": [1, 2, 4]}
    assert find_anomalies(history) == ["INV has a gap, or a number twice: [1, 2, 4]"]


def test_a_smaller_number_for_a_later_call_is_an_anomaly() -> None:
    history = sound()
    history.issued = [Issued(1, 2, "INV", 2), Issued(3, 4, "INV", 1)]
    assert find_anomalies(history) == ["1 of INV was asked for after 2 was given"]


def test_a_head_that_is_in_no_chain_any_more_is_an_anomaly() -> None:
    history = sound()
    history.heads.append(Head(7, 8, "chain", 3, "another"))
    assert find_anomalies(history) == ["chain forks, or was rewritten, at 3"]


def test_a_head_without_what_was_answered_before_is_an_anomaly() -> None:
    history = sound()
    history.heads = [Head(5, 6, "chain", 1, "a")]
    assert find_anomalies(history) == ["chain ended at 1, and 2 events had been answered"]


def test_a_chain_that_grows_shorter_is_an_anomaly() -> None:
    history = sound()
    history.heads = [Head(5, 6, "chain", 3, "c"), Head(7, 8, "chain", 2, "b")]
    assert find_anomalies(history) == ["chain was shorter after it had 3 events"]


def test_a_chain_with_a_gap_is_an_anomaly() -> None:
    history = sound()
    history.digests = {"chain": {1: "a", 2: "b", 3: "c", 5: "e"}}
    assert find_anomalies(history) == ["chain has a gap"]
