"""The house's script on machines that lack what it needs, played by made-up interpreters."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from config.environment import PROJECT_FOLDER

# The script needs no database: once is enough.
pytestmark = pytest.mark.sqlite

PROGRAMS = ("sh", "dirname", "cmp", "sed", "rm", "cp", "mkdir", "touch", "cat", "chmod", "mktemp")
INSTALLING = "Installing what requirements.txt lists; the first time takes a minute.\n"

PYTHON = """#!/bin/sh
case "$*" in
*sys.version_info*) echo {version} ;;
*ensurepip*) exit 0 ;;
--version) echo Python {version} ;;
*"-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
*) echo "$*" >> calls ;;
esac
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Return a checkout beside a bin folder in which there is no Python yet."""
    (tmp_path / "bin").mkdir()
    for program in PROGRAMS:
        (tmp_path / "bin" / program).symlink_to(str(shutil.which(program)))
    for name in ("dev", "requirements.txt", "requirements-dev.txt"):
        shutil.copy(PROJECT_FOLDER / name, tmp_path / name)
    return tmp_path


def add_python(machine: Path, name: str, *, version: str) -> None:
    path = machine / "bin" / name
    path.write_text(PYTHON.format(version=version))
    path.chmod(0o755)


def call(machine: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(  # noqa: S603  our own script
        [machine / "dev", *arguments],
        cwd="/",
        env={"PATH": str(machine / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_the_first_fitting_python_is_taken_installs_once_and_runs_what_was_asked_for(machine):
    assert call(machine, "run") == (2, "Python 3.11 to 3.14 is needed, and not found.\n")
    add_python(machine, "python3", version="3.9")
    sentence = "Python 3.11 to 3.14 is needed, and not found (python3 is 3.9).\n"
    assert call(machine, "run") == (2, sentence)
    assert not (machine / ".venv").exists()

    add_python(machine, "python3.12", version="3.12")
    assert call(machine, "run") == (0, "Making .venv with Python 3.12.\n" + INSTALLING)
    assert call(machine, "run", "--port", "9443") == (0, "")
    (machine / "requirements.txt").write_text("changed")
    assert call(machine, "run") == (0, INSTALLING)
    call(machine, "test", "-k", "two words")
    install, *rest = (machine / "calls").read_text().splitlines()
    assert "--require-hashes --requirement requirements.txt" in install
    assert [line for line in rest if " --requirement " not in line] == [
        "manage.py quickstart",
        "manage.py quickstart --port 9443",
        "manage.py quickstart",
        "-m pytest --database sqlite -k two words",
        "-m pytest --database postgresql -k two words",
    ]


def test_every_command_is_listed_and_another_is_refused(machine):
    script = (machine / "dev").read_text(encoding="utf-8").partition("case $command in")[2]
    status, told = call(machine, "deploy")
    _, *listed, last = told.splitlines()
    assert (status, last) == (2, "There is no command 'deploy'.")
    commands = re.findall(r"^([a-z]+)\b.*\) ", script, re.MULTILINE)
    assert sorted(line.split()[0] for line in listed) == sorted(commands)
