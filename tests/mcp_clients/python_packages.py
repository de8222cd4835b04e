"""The agents' libraries of PyPI at the versions of the lock file, in an environment under var/."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from config.environment import VAR_FOLDER

SCRIPTS = Path(__file__).parent / "python"
LOCK = SCRIPTS / "requirements.txt"
FOLDER = VAR_FOLDER / "mcp_clients_python"
PYTHON = FOLDER / "bin" / "python"
INSTALLED = FOLDER / "installed.txt"  # a copy of the lock file that the folder was filled from

ABSENT = "The MCP clients of PyPI are not installed; ./dev conformance installs them."


def run_script(name: str, *, documented: str, environment: Mapping[str, str]) -> Any:
    """Run a script of python/, with the source `documented` as a module; return its JSON."""
    with TemporaryDirectory() as folder:
        Path(folder, "documented.py").write_text(documented, encoding="utf-8")
        done = subprocess.run(  # noqa: S603  our own command
            [PYTHON, "-P", SCRIPTS / name],  # -P: a script may be named like what it imports
            env={**os.environ, **environment, "PYTHONPATH": folder},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_installed() -> bool:
    return INSTALLED.is_file() and INSTALLED.read_bytes() == LOCK.read_bytes()


def install() -> int:
    """Fill the environment anew from the lock file."""
    if is_installed():
        return 0
    subprocess.run(  # noqa: S603  our own command
        [sys.executable, "-m", "venv", "--clear", "--without-pip", FOLDER], check=True
    )
    done = subprocess.run(  # noqa: S603  our own command
        [
            *(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", PYTHON),
            *("--no-deps", "--require-hashes", "--requirement", LOCK),
        ],
        check=False,
    )
    if done.returncode == 0:
        shutil.copy(LOCK, INSTALLED)
    return done.returncode


if __name__ == "__main__":
    sys.exit(install())
