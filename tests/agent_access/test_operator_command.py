"""A command that cannot do its work says why in one sentence, and nothing else."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django import db
from django.core.management import CommandError, call_command, get_commands, load_command_class

import manage
from agent_access.database.failures import NOT_MIGRATED, NOT_THERE
from agent_access.operator_command import UNWRITTEN, OperatorCommand
from config.environment import PROJECT_FOLDER

# What a command says is the same on both databases.
pytestmark = pytest.mark.sqlite

OUR_APPS = ("agent_access", "agent_access.oauth", "invoicing")
OURS = sorted((name, app) for name, app in get_commands().items() if app in OUR_APPS)

WRONG = [
    ("connect_agent --user x --day 3", "The following arguments are required: --scopes, --days."),
    ("connect_agent --user x --scopes a --days x", "Argument --days: invalid int value: 'x'."),
    ("connect_agent --user x --scopes a --days 3 --js", "Unrecognized arguments: --js."),
    ("revoke_connection 7", "Argument ID: invalid UUID value: '7'."),
    ("verify_audit heads.txt", "Unrecognized arguments: heads.txt."),
    ("one_time_link \udcff@halden.example", "Argument EMAIL: not text in UTF-8."),
    ("connect_agent --user \udcfc --scopes a --days 3", "Argument --user: not text in UTF-8."),
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


@pytest.mark.parametrize(("line", "sentence"), WRONG)
def test_called_by_another_program_it_raises_the_sentence(line, sentence):
    name, *arguments = line.split()
    with pytest.raises(CommandError) as refusal:
        call_command(name, *arguments)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("line", ["agent_access ON", "agent_module people OFF"])
def test_a_switch_names_its_states(line):
    # Newer Pythons write the choices without quotes.
    choices = r"Argument state: invalid choice: '\w+' \(choose from '?on'?, '?off'?.*\)\."
    with pytest.raises(CommandError, match=f"^{choices}$"):
        call_command(*line.split())


def fail_with(monkeypatch, error: type[Exception]) -> None:
    failure = Mock(side_effect=error("the server is gone.\nDETAIL: what was sent"))
    monkeypatch.setattr("agent_access.models.settings.AccessSettings.read", failure)


@pytest.mark.django_db
@pytest.mark.parametrize("error", [db.OperationalError, db.InterfaceError, db.InternalError])
def test_a_database_that_does_not_answer_or_takes_no_writes_is_named(monkeypatch, error):
    fail_with(monkeypatch, error)
    with pytest.raises(CommandError) as refusal:
        call_command("agent_access", "status")
    name = db.connection.settings_dict["NAME"]
    assert str(refusal.value) == NOT_THERE.format(name=name, reason="the server is gone")


@pytest.mark.django_db
@pytest.mark.parametrize("error", [db.DataError, db.IntegrityError, db.ProgrammingError])
def test_a_mistake_of_ours_is_not_called_the_operators(monkeypatch, error):
    fail_with(monkeypatch, error)
    with pytest.raises(error):
        call_command("agent_access", "status")


def run_to_its_end(run: Callable[[], None], capsys: Any) -> tuple[Any, str]:
    """Run until it exits; return the exit code and what it told, which is no output."""
    with pytest.raises(SystemExit) as ending:
        run()
    out, told = capsys.readouterr()
    assert out == ""
    return ending.value.code, told


def test_ctrl_c_ends_a_command_with_one_sentence_before_it_begins_too(capsys, monkeypatch):
    interrupt = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("agent_access.management.commands.openapi.describe_api", interrupt)
    command = load_command_class("agent_access", "openapi")
    run = partial(command.run_from_argv, ["manage.py", "openapi"])
    assert run_to_its_end(run, capsys) == (130, "CommandError: Stopped before it was done.\n")
    monkeypatch.setattr("manage.execute_from_command_line", interrupt)
    assert run_to_its_end(manage.main, capsys) == (130, "Stopped before it was done.\n")


def run_alone(line: str, *, output: Any = subprocess.PIPE, **environment: str) -> tuple[int, str]:
    """Run a command in a process of its own; return its exit code and what it told."""
    done = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "manage.py", *line.split()],
        cwd=PROJECT_FOLDER,
        env=os.environ | environment,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert not done.stdout
    return done.returncode, done.stderr


# Python writes at once, or as the command ends.
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_nobody_reads_ends_a_command_with_one_sentence(unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as output:
        told = run_alone("openapi", output=output, PYTHONUNBUFFERED=unbuffered)
    assert told == (1, f"CommandError: {UNWRITTEN}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has a full disk to try.")
def test_a_disk_that_cannot_hold_the_output_is_told_in_one_sentence():
    with Path("/dev/full").open("w", encoding="utf-8") as output:
        told = run_alone("openapi", output=output)
    assert told == (1, f"CommandError: {UNWRITTEN}\n")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("This was never a database, whatever its name says.", NOT_THERE),
        ("", NOT_MIGRATED),
    ],
    ids=["no database", "no tables"],
)
@pytest.mark.parametrize("line", ["agent_access on", "verify_audit"])
def test_a_file_that_is_no_database_of_ours_is_named(tmp_path, line, content, told):
    file = tmp_path / "books.sqlite3"
    file.write_text(content, encoding="utf-8")
    sentence = told.format(name=file, reason="file is not a database")
    assert run_alone(line, DATABASE_URL=f"sqlite:///{file}") == (1, f"CommandError: {sentence}\n")


def test_a_program_that_calls_a_command_keeps_its_own_output(capfd):
    full = Mock(**{"write.side_effect": OSError(errno.ENOSPC, "No space left on device")})
    with pytest.raises(CommandError) as refusal:
        call_command("openapi", stdout=full)
    sys.stdout.write("It goes on.\n")
    sys.stdout.flush()

    assert str(refusal.value) == UNWRITTEN
    assert capfd.readouterr() == ("It goes on.\n", "")
