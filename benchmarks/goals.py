"""What a measurement says of goals that it missed, which `benchmarks.scale` counts."""

import sys
from collections.abc import Mapping

MISSED = "Goal missed: "
# The exit code then: 1 is that of a measurement that failed.
MISSED_CODE = 3


def tell_missed(goals: Mapping[str, bool]) -> int:
    """Print each goal that was not met, by its words, and return the exit code."""
    missed = [goal for goal, is_met in goals.items() if not is_met]
    sys.stdout.writelines(f"\n{MISSED}{goal}.\n" for goal in missed)
    return MISSED_CODE if missed else 0
