"""The house's script on machines that lack what it needs, played by made-up interpreters."""

import shutil
import subprocess
from pathlib import Path

import pytest

from config.environment import PROJECT_FOLDER

# The script needs no database: once is enough.
pytestmark = pytest.mark.sqlite

PROGRAMS = ("sh", "dirname", "cmp", "sed", "rm", "cp", "mkdir", "touch", "cat", "chmod", "mktemp")
COMMANDS = (
    "run",
    "test",
    "coverage",
    "check",
    "conformance",
    "fuzz",
    "bench",
    "break",
    "openapi",
    "lint",
    "lock",
    "help",
)

INSTALLING = "Installing what requirements.txt lists; the first time takes a minute.\n"

PYTHON = """#!/bin/sh
case "$*" in
*sys.version_info*) echo {version} ;;
*ensurepip*) exit {venv_missing} ;;
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


def add_python(machine: Path, name: str, *, version: str, venv_missing: bool = False) -> None:
    path = machine / "bin" / name
    path.write_text(PYTHON.format(version=version, venv_missing=int(venv_missing)))
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


def calls(machine: Path) -> list[str]:
    return (machine / "calls").read_text().splitlines()


def test_a_machine_without_python_is_told_what_it_needs(machine) -> None:
    assert call(machine, "run") == (2, "Python 3.11 to 3.14 is needed, and not found.\n")
    assert not (machine / ".venv").exists()


def test_a_machine_with_an_old_python_is_told_what_it_needs(machine) -> None:
    add_python(machine, "python3", version="3.9")
    sentence = "Python 3.11 to 3.14 is needed, and not found (python3 is 3.9).\n"
    assert call(machine, "test") == (2, sentence)
    assert not (machine / ".venv").exists()


def test_a_python_without_venv_is_told_which_package_to_install(machine) -> None:
    add_python(machine, "python3", version="3.11", venv_missing=True)
    sentence = "Python's venv module is missing here: apt-get install python3-venv\n"
    assert call(machine, "run") == (2, sentence)
    assert not (machine / ".venv").exists()


def test_the_first_fitting_python_is_taken(machine) -> None:
    add_python(machine, "python3", version="3.9")
    add_python(machine, "python3.12", version="3.12")
    assert call(machine, "run") == (0, "Making .venv with Python 3.12.\n" + INSTALLING)


def test_run_installs_the_runtime_once_and_serves(machine) -> None:
    add_python(machine, "python3", version="3.11")
    call(machine, "run")
    assert call(machine, "run", "--port", "9443") == (0, "")
    install, first, second = calls(machine)
    assert "--require-hashes --requirement requirements.txt" in install
    assert (first, second) == ("manage.py quickstart", "manage.py quickstart --port 9443")


def test_run_keeps_what_test_installed(machine) -> None:
    add_python(machine, "python3", version="3.11")
    call(machine, "test", "-k", "nothing")
    assert call(machine, "run") == (0, "")
    assert [line for line in calls(machine) if "requirements.txt" in line] == []


def test_a_changed_lock_file_is_installed_again(machine) -> None:
    add_python(machine, "python3", version="3.11")
    call(machine, "run")
    (machine / "requirements.txt").write_text("changed")
    assert call(machine, "run") == (0, INSTALLING)


def test_arguments_of_test_reach_pytest_on_both_databases(machine) -> None:
    add_python(machine, "python3", version="3.11")
    call(machine, "test", "-k", "two words")
    assert calls(machine)[-2:] == [
        "-m pytest --database sqlite -k two words",
        "-m pytest --database postgresql -k two words",
    ]


def test_an_api_document_that_cannot_be_made_leaves_the_one_there_is(machine) -> None:
    add_python(machine, "python3", version="3.11")
    call(machine, "test", "-k", "nothing")
    (machine / "docs").mkdir()
    document = machine / "docs/openapi.json"
    document.write_text("former")
    shutil.copy(PROJECT_FOLDER / ".env.example", machine)
    assert call(machine, "openapi") == (0, "")
    assert (calls(machine)[-1], document.read_text()) == ("manage.py openapi", "")

    document.write_text("former")
    (machine / ".venv/bin/python").write_text("#!/bin/sh\nexit 1\n")
    assert call(machine, "openapi") == (1, "")
    assert document.read_text() == "former"


def test_help_lists_every_command(machine) -> None:
    done = subprocess.run(  # noqa: S603  our own script
        [machine / "dev"], env={"PATH": str(machine / "bin")}, capture_output=True, check=True
    )
    listed = [line.split()[0] for line in done.stdout.decode().splitlines()[1:]]
    assert listed == list(COMMANDS)


def test_an_unknown_command_is_refused(machine) -> None:
    status, told = call(machine, "deploy")
    assert (status, told.splitlines()[-1]) == (2, "There is no command 'deploy'.")
