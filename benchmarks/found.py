"""A page of benchmarks/results: what a command found, with the machine and the day."""

import shlex
import sys

from benchmarks.machine import describe_machine

# As this process began.
MACHINE = describe_machine()


def format_page(program: str, found: str) -> str:
    """Return the page, which names the program with the arguments that it was given."""
    command = shlex.join([*program.split(), *sys.argv[1:]])
    machine = "; ".join(f"{name}: {value}" for name, value in MACHINE.items())
    return f"# What `{command}` found\n\n{machine}.\n\n{found}\n"
