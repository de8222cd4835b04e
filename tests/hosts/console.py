"""Runs the commands of a project, each in a fork of this process, which loaded Django once.

Each line that it reads has the arguments of a command and its environment, in JSON; each that it
writes, the exit code and what the command printed.
"""

import json
import os
import sys
import tempfile

import django
from django.core.management import execute_from_command_line


def run(arguments: list[str], environment: dict[str, str]) -> tuple[int, str]:
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        if (process := os.fork()) == 0:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            os.environ.update(environment)
            execute_from_command_line(["manage.py", *arguments])
            sys.exit()
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        printed.seek(0)
        return code, printed.read()


if __name__ == "__main__":
    django.setup()
    for line in sys.stdin:
        print(json.dumps(run(*json.loads(line))), flush=True)  # noqa: T201  its answer
