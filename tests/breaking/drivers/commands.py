"""How drivers run the service's own commands, in processes that may be killed."""

import subprocess
import sys
from pathlib import Path

from config.environment import PROJECT_FOLDER
from tests.breaking.drivers.driver import Site

MODULE = "tests.breaking.drivers.command"


def start_command(site: Site, *arguments: str, log: Path) -> "subprocess.Popen[bytes]":
    """Start a command; what it prints is appended to the log."""
    with log.open("ab") as output:
        return subprocess.Popen(  # noqa: S603  our own command
            [sys.executable, "-m", MODULE, *arguments],
            cwd=PROJECT_FOLDER,
            env=site.variables(),
            stdout=output,
            stderr=output,
        )
