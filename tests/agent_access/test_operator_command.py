"""A command that cannot do its work says why in one sentence, and nothing else."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import IO
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.db import (
    DataError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
    connection,
)

import manage
from agent_access.database.failures import NOT_MIGRATED, NOT_THERE
from agent_access.operator_command import UNWRITTEN, OperatorCommand

# What a command says is the same on both databases.
pytestmark = pytest.mark.sqlite

OUR_APPS = ("agent_access", "agent_access.oauth", "invoicing")
OURS = sorted((name, app) for name, app in get_commands().items() if app in OUR_APPS)

WRONG = [
    ("connect_agent --user x --day 3", "The following arguments are required: --scopes, --days."),
    (
        "connect_agent --user x --scopes a --days x",
        "Argument --days: invalid int value: 'x'.",
    ),
    ("connect_agent --user x --scopes a --days 3 --js", "Unrecognized arguments: --js."),
    ("revoke_connection 7", "Argument ID: invalid UUID value: '7'."),
    ("verify_audit heads.txt", "Unrecognized arguments: heads.txt."),
    ("transfer_ownership", "The following arguments are required: EMAIL."),
    ("load_sample_company --documents many", "Argument --documents: invalid int value: 'many'."),
    ("one_time_link \udcff@halden.example", "Argument EMAIL: not text in UTF-8."),
    ("connect_agent --user \udcfc --scopes a --days 3", "Argument --user: not text in UTF-8."),
    ("quickstart --portable", "Unrecognized arguments: --portable."),
]


@pytest.mark.parametrize(("name", "app"), OURS)
def test_every_command_of_ours_is_one(name, app):
    assert isinstance(load_command_class(app, name), OperatorCommand)


@pytest.mark.parametrize(("line", "sentence"), WRONG)
def test_wrong_arguments_get_one_sentence(capsys, line, sentence):
    name, *arguments = line.split()
    command = load_command_class(get_commands()[name], name)
    with pytest.raises(SystemExit) as ending:
        command.run_from_argv(["manage.py", name, *arguments])

    assert ending.value.code == 2
    assert capsys.readouterr() == ("", f"{sentence}\n")


@pytest.mark.parametrize("choice", ["", "maybe", "ON"])
def test_a_switch_names_its_states(capsys, choice):
    with pytest.raises(SystemExit):
        load_command_class("agent_access", "agent_access").run_from_argv(["m", "a", choice])
    told = capsys.readouterr().err
    assert told.startswith("Argument state: invalid choice: ")
    assert told.count("\n") == 1


def test_called_by_another_program_it_raises_the_sentence():
    with pytest.raises(CommandError) as refusal:
        call_command("revoke_connection", "7")
    assert str(refusal.value) == "Argument ID: invalid UUID value: '7'."


@pytest.mark.django_db
@pytest.mark.parametrize("error", [OperationalError, InterfaceError, InternalError])
def test_a_database_that_does_not_answer_or_takes_no_writes_is_named(monkeypatch, error):
    def fail() -> None:
        raise error("the server is gone.\nDETAIL: what was sent")

    monkeypatch.setattr("agent_access.models.settings.AccessSettings.read", fail)
    with pytest.raises(CommandError) as refusal:
        call_command("agent_access", "status")
    name = connection.settings_dict["NAME"]
    assert str(refusal.value) == NOT_THERE.format(name=name, reason="the server is gone")


@pytest.mark.django_db
@pytest.mark.parametrize("error", [DataError, IntegrityError, ProgrammingError])
def test_a_mistake_of_ours_is_not_called_the_operators(monkeypatch, error):
    def fail() -> None:
        raise error("syntax error")

    monkeypatch.setattr("agent_access.models.settings.AccessSettings.read", fail)
    with pytest.raises(error):
        call_command("agent_access", "status")


def test_ctrl_c_before_a_command_begins_ends_it_with_one_sentence(capsys, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("manage.execute_from_command_line", interrupt)
    with pytest.raises(SystemExit) as ending:
        manage.main()

    assert ending.value.code == 130
    assert capsys.readouterr() == ("", "Stopped before it was done.\n")


def run_into(output: IO[str], *, buffered: bool) -> subprocess.CompletedProcess[str]:
    """Run a command whose output goes there; Python writes it at once, or as the command ends."""
    return subprocess.run(
        [sys.executable, "manage.py", "openapi"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"},
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("buffered", [True, False])
def test_output_that_nobody_reads_ends_a_command_with_one_sentence(buffered):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as output:
        told = run_into(output, buffered=buffered)
    assert (told.returncode, told.stderr) == (1, f"CommandError: {UNWRITTEN}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has a full disk to try.")
@pytest.mark.parametrize("buffered", [True, False])
def test_a_disk_that_cannot_hold_the_output_is_told_in_one_sentence(buffered):
    with Path("/dev/full").open("w", encoding="utf-8") as output:
        told = run_into(output, buffered=buffered)
    assert (told.returncode, told.stderr) == (1, f"CommandError: {UNWRITTEN}\n")


def test_a_program_that_calls_a_command_keeps_its_own_output(capfd):
    full = Mock(**{"write.side_effect": OSError(errno.ENOSPC, "No space left on device")})
    with pytest.raises(CommandError) as refusal:
        call_command("openapi", stdout=full)
    sys.stdout.write("It goes on.\n")
    sys.stdout.flush()

    assert str(refusal.value) == UNWRITTEN
    assert capfd.readouterr() == ("It goes on.\n", "")


@pytest.mark.parametrize("line", ["agent_access on", "verify_audit"])
def test_a_file_that_is_no_database_is_named(tmp_path, line):
    file = tmp_path / "books.sqlite3"
    file.write_text("This was never a database, whatever its name says.", encoding="utf-8")
    told = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "manage.py", *line.split()],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "DATABASE_URL": f"sqlite:///{file}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stdout) == (1, "")
    sentence = NOT_THERE.format(name=file, reason="file is not a database")
    assert told.stderr == f"CommandError: {sentence}\n"


def test_ctrl_c_ends_a_command_with_one_sentence(capsys, monkeypatch):
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agent_access.management.commands.openapi.describe_api", interrupt)
    with pytest.raises(SystemExit) as ending:
        load_command_class("agent_access", "openapi").run_from_argv(["manage.py", "openapi"])

    assert ending.value.code == 130
    assert capsys.readouterr() == ("", "CommandError: Stopped before it was done.\n")


@pytest.mark.sqlite
@pytest.mark.parametrize("line", ["agent_access on", "connect_agent --user a --scopes b --days 1"])
def test_a_database_without_its_tables_is_to_be_migrated(tmp_path, line):
    database = tmp_path / "empty.sqlite3"
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{database}"}
    told = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "manage.py", *line.split()],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == f"CommandError: {NOT_MIGRATED.format(name=database)}\n"
