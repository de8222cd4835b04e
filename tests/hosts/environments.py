"""Environments with newer versions of Django, under var/, for the projects that install the wheel.

`python -m tests.hosts.environments` makes them, where the machine has a Python that they run on.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from config.environment import PROJECT_FOLDER, VAR_FOLDER

# The newer ones want Python 3.12.
VERSIONS = ("6.0.10", "6.1.3")
PYTHONS = ("python3.14", "python3.13", "python3.12")
LOCK = PROJECT_FOLDER / "requirements-dev.txt"
PACKAGES = """
    cryptography django-cors-headers django-csp django-oauth-toolkit django-ratelimit
    djangorestframework dj-database-url mcp-types oauthlib orjson psycopg[binary] pydantic
    typing-extensions uuid-utils
"""


def folder_of(version: str) -> Path:
    return VAR_FOLDER / "django" / version


def python_of(version: str) -> Path:
    return folder_of(version) / "bin" / "python"


def is_installed(version: str) -> bool:
    """Return whether the environment was filled from today's lock file."""
    installed = folder_of(version) / "installed.txt"
    return installed.is_file() and installed.read_bytes() == LOCK.read_bytes()


def find_python() -> Path | None:
    """Return a Python of 3.12 or newer, on the path or among pyenv's, or None."""
    return next(filter(starts, candidates()), None)


def candidates() -> Iterator[Path]:
    for name in PYTHONS:
        if found := shutil.which(name):
            yield Path(found)
        yield from sorted(Path.home().glob(f".pyenv/versions/*/bin/{name}"))


def starts(python: Path) -> bool:
    """Return whether it runs, and can make an environment: a shim of pyenv may do neither."""
    done = subprocess.run([python, "-c", "import venv"], capture_output=True, check=False)  # noqa: S603  our own command
    return done.returncode == 0


def read_pins() -> str:
    """Return the versions of the lock file, but for Django's."""
    pins = re.findall(r"^[\w.-]+(?:\[.*?\])?==\S+", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    return "\n".join(pin for pin in pins if not pin.startswith("django=="))


def install(version: str, python: Path) -> None:
    uv, folder = [sys.executable, "-m", "uv"], folder_of(version)
    subprocess.run([*uv, "venv", "--quiet", "--clear", "--python", python, folder], check=True)  # noqa: S603  our own command
    pins = folder / "pins.txt"
    pins.write_text(read_pins(), encoding="utf-8")
    packages = [f"django=={version}", *PACKAGES.split()]
    into = ["--python", str(python_of(version)), "--constraint", str(pins)]
    subprocess.run([*uv, "pip", "install", "--quiet", *into, *packages], check=True)  # noqa: S603  our own command
    shutil.copy(LOCK, folder / "installed.txt")


def main() -> None:
    python = find_python()
    for version in VERSIONS:
        if is_installed(version):
            continue
        if python is None:
            print(f"Django {version} is skipped: it needs Python 3.12, which is not here.")  # noqa: T201  its answer
            continue
        install(version, python)


if __name__ == "__main__":
    main()
