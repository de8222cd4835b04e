"""One command, and what it took: seconds, and the largest resident set of its process."""

import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep

KIBIBYTES = 1024
PAUSE = 0.05
HIGHEST = re.compile(r"VmHWM:\s+(\d+) kB")


def measure(command: Sequence[str]) -> tuple[float, float, str]:
    """Return seconds, MiB of memory and what the command printed; raises CalledProcessError.

    The kernel's own account of a child begins with the size of this process; its status does not.
    """
    highest = [0]
    begun = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  our own commands
        watcher = Thread(target=_watch, args=(process, highest))
        watcher.start()
        output, _ = process.communicate()
        watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    return perf_counter() - begun, highest[0] / KIBIBYTES, output


def _watch(process: subprocess.Popen[str], highest: list[int]) -> None:
    status = Path("/proc", str(process.pid), "status")
    while process.returncode is None:
        with suppress(OSError):
            if found := HIGHEST.search(status.read_text(encoding="ascii")):
                highest[0] = int(found[1])
        sleep(PAUSE)
