"""How hard the fuzzers try: a little and always alike in the tests, much more by command."""

import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# `./dev fuzz` sets both, a seed of its own for every round.
SEED = int(os.environ.get("FUZZ_SEED", "0"))
EFFORT = int(os.environ.get("FUZZ_EFFORT", "1"))
IS_LONG = EFFORT > 1

# The tests play a machine once; a long run plays it on both databases.
PLAYED = [] if IS_LONG else [pytest.mark.sqlite]

# What was sent, by fuzzer, so that a run can say how much it tried.
tally: Counter[str] = Counter()


def try_hard(examples: int, *, long: int = 0, **more: Any) -> settings:
    """Return settings for this many examples in the tests, and for more in a long run.

    `long` is how many these are, where that is not the same multiple as for the others.
    """
    return settings(
        max_examples=(long or examples * EFFORT) if IS_LONG else examples,
        deadline=None,
        derandomize=not IS_LONG,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
        **more,
    )
