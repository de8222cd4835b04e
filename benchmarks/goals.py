"""What a measurement says of goals that it missed, which `benchmarks.scale` counts."""

import sys
from collections.abc import Mapping

MISSED = "Goal missed: "


def tell_missed(goals: Mapping[str, bool]) -> int:
    """Print each goal that was not met, by its words; return the exit code: 1 if there is one."""
    missed = [goal for goal, is_met in goals.items() if not is_met]
    sys.stdout.writelines(f"\n{MISSED}{goal}.\n" for goal in missed)
    return int(bool(missed))
