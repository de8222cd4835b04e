"""A process that has loaded the libraries, and forks for each run of tests, which loads our code.

It reads a run from each line of its input and answers with pytest's status, as JSON. To load the
libraries takes as long as all else in most runs.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

# A run that was ended since it took too long: as pytest, which has no such status.
HUNG = -1
LOOK_AGAIN_SECONDS = 0.05

# Of a developer's shell: with the first, every run would compile all modules anew.
LEFT_OUT = ("PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS")

# Without pytest's own plugins, whose assertions it has to rewrite as they are loaded, and without
# what reads Django's settings.
LIBRARIES = (
    *("pytest", "_pytest.assertion.rewrite", "pydantic", "mcp_types", "mcp_types.methods"),
    *("django.db.models", "django.http", "django.forms", "django.urls", "django.views.generic"),
    *("django.template.engine", "django.core.management", "django.core.mail", "django.test"),
    *("cryptography.fernet", "oauthlib.oauth2", "orjson", "psycopg", "iso4217", "stdnum.iban"),
    *("babel.dates", "babel.numbers", "webauthn", "segno", "PIL.Image", "prometheus_client"),
)


class Workshop:
    """The process, in the folder of a copy; what its tests print goes to a file."""

    def __init__(self, folder: Path, output: Path) -> None:
        with output.open("ab") as errors:
            self._process = subprocess.Popen(  # noqa: S603  our own command
                [sys.executable, "-m", "tests.promises.workshop", str(output)],
                cwd=folder,
                env={name: value for name, value in os.environ.items() if name not in LEFT_OUT},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def run(self, arguments: Sequence[str], variables: Mapping[str, str], seconds: float) -> int:
        """Return pytest's status, or HUNG after so many seconds."""
        asked = {"arguments": [*arguments], "variables": dict(variables), "seconds": seconds}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(asked)}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()  # which ends its input


def main() -> None:
    for name in LIBRARIES:
        import_module(name)
    for line in sys.stdin:
        sys.stdout.write(f"{_fork(json.loads(line))}\n")
        sys.stdout.flush()


def _fork(asked: Mapping[str, Any]) -> int:
    pid = os.fork()
    if pid == 0:
        _run(asked)
    until = time.monotonic() + asked["seconds"]
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return HUNG
        time.sleep(LOOK_AGAIN_SECONDS)


def _run(asked: Mapping[str, Any]) -> None:
    """Run the tests in the forked process, and end it."""
    import pytest  # noqa: PLC0415  loaded before the fork

    status = 1
    try:
        os.setsid()  # so that whatever the tests start ends with them
        output = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.environ.update(asked["variables"])
        status = int(pytest.main(asked["arguments"]))
        sys.stdout.flush()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
