"""One command, and what it took: seconds, and the largest resident set of its process."""

import os
import subprocess
from collections.abc import Sequence
from time import perf_counter

KIBIBYTES = 1024


def measure(command: Sequence[str]) -> tuple[float, float, str]:
    """Return seconds, MiB of memory and what the command printed; raises CalledProcessError."""
    begun = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  our own commands
        assert process.stdout  # noqa: S101  it is a pipe
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    return perf_counter() - begun, used.ru_maxrss / KIBIBYTES, output
