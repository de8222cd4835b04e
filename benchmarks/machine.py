"""What a process has cost, and what it ran on; from /proc, so on Linux only."""

import os
import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

PROC = Path("/proc")
NANOSECONDS = 1_000_000_000
KIBIBYTES_PER_MEBIBYTE = 1024


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its descendants, as the scheduler counts it."""
    return sum(_thread_seconds(process) for process in _family(pid))


def spent_seconds(pid: int) -> float:
    """Return the same to a hundredth of a second, with threads and descendants that have ended."""
    ticks = 0
    for process in _family(pid):
        fields = (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))  # its own time, and that of children it waited for
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_mebibytes(pid: int) -> float:
    """Return the memory of the largest process of a tree: the worker, not its supervisor."""
    return max(_resident_kibibytes(process) for process in _family(pid)) / KIBIBYTES_PER_MEBIBYTE


def _family(pid: int) -> Iterator[int]:
    yield pid
    for task in _tasks(pid):
        for child in (task / "children").read_text().split():
            yield from _family(int(child))


def _tasks(pid: int) -> list[Path]:
    return list((PROC / str(pid) / "task").iterdir())


def _thread_seconds(pid: int) -> float:
    spent = (int((task / "schedstat").read_text().split()[0]) for task in _tasks(pid))
    return sum(spent) / NANOSECONDS


def _resident_kibibytes(pid: int) -> int:
    status = (PROC / str(pid) / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def describe_machine() -> dict[str, str]:
    """Return the machine and the day, as every result names them."""
    processor = (PROC / "cpuinfo").read_text().partition("model name\t: ")[2].splitlines()[0]
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "processor": f"{os.cpu_count()} x {processor}",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load": f"{os.getloadavg()[0]:.1f} at the beginning",
    }
