"""Takes all memory that a process may have, and holds it for some seconds."""

import os
import resource
import threading
import time
from contextlib import suppress
from pathlib import Path

# Names the file by which a server's process is told to.
VARIABLE = "HUNGER_FILE"
PAUSE_SECONDS = 0.05
MOMENT_SECONDS = 0.005
# From large to small, so that hardly a gap is left between them.
SIZES = (1024**2, 64 * 1024, 4096, 512, 64)
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def make_hungry(path: Path, seconds: float) -> None:
    """Let the process that watches the file take all memory for so long."""
    fresh = path.with_suffix(".new")
    fresh.write_text(str(seconds), encoding="ascii")
    fresh.replace(path)


def watch_own_hunger() -> None:
    path = Path(os.environ[VARIABLE])
    threading.Thread(target=_watch, args=(path,), daemon=True, name="hunger").start()


def _watch(path: Path) -> None:
    while True:
        with suppress(FileNotFoundError, MemoryError):
            seconds = float(path.read_text(encoding="ascii"))
            path.unlink()
            take_all(seconds)
        time.sleep(PAUSE_SECONDS)


def take_all(seconds: float) -> None:
    """Let this process grow no more, fill what it has, and give it back after so many seconds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), UNLIMITED[1]))
    taken, until = [], time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            for size in SIZES:
                with suppress(MemoryError):
                    while True:
                        taken.append(bytes(size))
            time.sleep(MOMENT_SECONDS)  # in which others give back what they have
    finally:
        taken.clear()
        resource.setrlimit(resource.RLIMIT_AS, UNLIMITED)
