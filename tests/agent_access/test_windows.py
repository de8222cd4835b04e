"""Windows in which events are counted: which are apart, when they end, and many threads at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.core.cache import cache

from agent_access import throttling

# What is counted is in the cache, and the same whatever the database.
pytestmark = pytest.mark.sqlite

count = partial(throttling.count, quota=60, seconds=60)

START = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


@pytest.fixture
def begin(time_machine):
    """Return the moment at which a window of a minute begins for the bucket `me`."""
    time_machine.move_to(START, tick=False)
    _, left = count("calibration", "me")
    return START + timedelta(seconds=left)


@pytest.mark.usefixtures("_clock_stands_still")
def test_groups_and_buckets_are_counted_apart():
    assert [count("a", "me")[0] for _ in range(3)] == [1, 2, 3]
    assert count("a", "you")[0] == 1
    assert count("b", "me")[0] == 1


@pytest.mark.usefixtures("_clock_stands_still")
def test_a_count_can_be_read_without_counting():
    read, spend = partial(count, "a", "me", increment=False), partial(count, "a", "me")
    assert [each()[0] for each in (read, read, spend, read, spend)] == [0, 0, 1, 1, 2]


@pytest.mark.usefixtures("_clock_stands_still")
@pytest.mark.parametrize("is_shared", [False, True])
def test_many_at_once_each_get_a_count_of_their_own(request, is_shared):
    if is_shared:
        request.getfixturevalue("shared_cache")
    with ThreadPoolExecutor(16) as threads:
        counted = threads.map(lambda _: count("a", "me")[0], range(400))
    assert sorted(counted) == list(range(1, 401))


def test_a_window_ends_for_all_groups_of_a_bucket_at_the_second_that_was_named(begin, time_machine):
    one, other = partial(count, "a", "me"), partial(count, "b", "me")
    time_machine.move_to(begin, tick=False)
    assert [one(), other()] == [(1, 60), (1, 60)]
    time_machine.move_to(begin + timedelta(seconds=59, milliseconds=999), tick=False)
    assert [one(), other()] == [(2, 1), (2, 1)]
    time_machine.move_to(begin + timedelta(seconds=60), tick=False)
    assert [one(), other()] == [(1, 60), (1, 60)]


def test_buckets_do_not_all_begin_again_at_the_same_second(begin):
    assert len({count("a", str(number))[1] for number in range(300)}) > 50


def test_a_window_that_ends_while_it_is_counted_in_names_a_second_all_the_same(
    begin, time_machine, monkeypatch
):
    time_machine.move_to(begin + timedelta(seconds=59, milliseconds=999), tick=False)
    add = cache.add

    def add_slowly(*args: Any) -> bool:
        time_machine.shift(2)
        return add(*args)

    monkeypatch.setattr(cache, "add", add_slowly)
    assert count("a", "me") == (1, 1)


@pytest.mark.parametrize("switch", [{"RATELIMIT_ENABLE": False}, {"RATELIMIT_FAIL_OPEN": True}])
def test_no_setting_of_the_library_lets_anybody_in_uncounted(settings, switch, monkeypatch):
    for name, value in switch.items():
        setattr(settings, name, value)
    monkeypatch.setattr(cache, "add", lambda *_: False)
    with pytest.raises(ValueError, match="does not count"):
        count("a", "me")
