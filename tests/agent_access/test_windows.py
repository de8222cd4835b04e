"""Windows in which events are counted: which are apart, when they end, and many threads at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace

import pytest

from agent_access.windows import count

# What is counted is in the cache, and the same whatever the database.
pytestmark = pytest.mark.sqlite

START = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


@pytest.fixture
def begin(time_machine):
    """Return the moment at which a window of a minute begins for the bucket `me`."""
    time_machine.move_to(START, tick=False)
    _, left = count("calibration", "me", seconds=60)
    return START + timedelta(seconds=left)


@pytest.mark.usefixtures("_clock_stands_still")
def test_groups_buckets_and_steps_are_counted_apart():
    assert [count("a", "me", seconds=60)[0] for _ in range(3)] == [1, 2, 3]
    assert count("a", "you", seconds=60)[0] == 1
    assert count("b", "me", seconds=60)[0] == 1
    assert [count("c", "me", seconds=60, step=step)[0] for step in (0, 0, 1, 0, 2)] == [
        0,
        0,
        1,
        1,
        3,
    ]


@pytest.mark.usefixtures("_clock_stands_still")
@pytest.mark.parametrize("bucket", ["", " ", "x" * 10_000, "Zoë \N{SNOWMAN}\n\x00", "a:b*?"])
def test_any_text_names_a_bucket(bucket):
    assert [count("a", bucket, seconds=60)[0] for _ in range(2)] == [1, 2]


@pytest.mark.usefixtures("_clock_stands_still")
def test_many_at_once_each_get_a_count_of_their_own():
    assert_counted_apart()


@pytest.mark.usefixtures("_clock_stands_still", "shared_cache")
def test_many_at_once_each_get_a_count_of_their_own_in_a_shared_cache():
    assert_counted_apart()


def assert_counted_apart() -> None:
    with ThreadPoolExecutor(16) as threads:
        counted = threads.map(lambda _: count("a", "me", seconds=60)[0], range(400))
    assert sorted(counted) == list(range(1, 401))


def test_a_window_ends_for_all_groups_of_a_bucket_at_the_second_that_was_named(begin, time_machine):
    one, other = partial(count, "a", "me", seconds=60), partial(count, "b", "me", seconds=60)
    time_machine.move_to(begin, tick=False)
    assert [one(), other()] == [(1, 60), (1, 60)]
    time_machine.move_to(begin + timedelta(seconds=59, milliseconds=999), tick=False)
    assert [one(), other()] == [(2, 1), (2, 1)]
    time_machine.move_to(begin + timedelta(seconds=60), tick=False)
    assert [one(), other()] == [(1, 60), (1, 60)]


def test_buckets_do_not_all_begin_again_at_the_same_second(begin):
    assert len({count("a", str(number), seconds=60)[1] for number in range(300)}) > 50


def test_a_process_whose_clock_is_behind_counts_in_the_window_that_ended_for_the_others(
    begin, time_machine, monkeypatch
):
    time_machine.move_to(begin, tick=False)
    count("a", "me", seconds=60)
    time_machine.move_to(begin + timedelta(seconds=64), tick=False)
    behind = SimpleNamespace(time=(begin + timedelta(seconds=59)).timestamp)
    monkeypatch.setattr("agent_access.windows.time", behind)
    assert count("a", "me", seconds=60) == (2, 1)
