"""Finds and signals the processes that a test started."""

import os
import select
import signal
from contextlib import suppress
from pathlib import Path


def find_children(parent: int) -> list[int]:
    """Return the direct child processes of a process that still run."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if _read_parent(pid) == parent]


def _read_parent(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The state and the parent follow the name, which may hold spaces and brackets.
    state, parent = stat.rpartition(")")[2].split()[:2]
    return None if state == "Z" else int(parent)


def send(pid: int, what: signal.Signals) -> None:
    """Send a signal to a process, which may be gone already."""
    with suppress(ProcessLookupError):
        os.kill(pid, what)


def kill_family(parent: int) -> None:
    """Kill a process and its children with SIGKILL, and wait until they are gone."""
    watched: list[int] = []
    for pid in (parent, *find_children(parent)):
        with suppress(ProcessLookupError):
            watched.append(os.pidfd_open(pid))
    for process in watched:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(process, signal.SIGKILL)
    for process in watched:
        select.select([process], [], [])
        os.close(process)
