"""The clock of a server, wrong by as many seconds as a file says."""

import os
import threading
import time
from pathlib import Path

import time_machine

# Names the file to the server's process.
VARIABLE = "CLOCK_FILE"
PAUSE_SECONDS = 0.02


def set_clock(path: Path, offset: float) -> None:
    """Let the clock be so many seconds ahead, or behind where they are fewer than none."""
    fresh = path.with_suffix(".new")
    fresh.write_text(str(offset), encoding="ascii")
    fresh.replace(path)


def follow_clock(path: Path) -> None:
    """Let this process read its time from a clock that jumps whenever the file says another offset.

    Of Python's clocks only those of the day jump, as they do where a machine is corrected.
    """
    traveller = time_machine.travel(time.time(), tick=True)
    clock, shown = traveller.start(), 0.0

    def follow() -> None:
        nonlocal shown
        while True:
            wanted = float(path.read_text(encoding="ascii"))
            if wanted != shown:
                clock.shift(wanted - shown)
                shown = wanted
            pause(PAUSE_SECONDS)

    pause = threading.Event().wait
    threading.Thread(target=follow, daemon=True, name="clock").start()


def follow_own_clock() -> None:
    follow_clock(Path(os.environ[VARIABLE]))
