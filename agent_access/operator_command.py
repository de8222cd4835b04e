"""What all commands for the operator have in common: a failure is told in one sentence."""

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any, NoReturn

from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser
from django.db import DatabaseError, InterfaceError
from typing_extensions import override

from agent_access.database.failures import explain

# The tag of system checks that every command of ours runs; a project may register some.
ENVIRONMENT = "environment"
WRONG_ARGUMENTS = 2
INTERRUPTED = 130  # as shells tell of a program that Ctrl-C ended
STOPPED = "Stopped before it was done."
UNWRITTEN = "The output cannot be written; what was done before stays done."


class OperatorCommand(BaseCommand):
    """Fails with one sentence and an exit code, where Django would print a usage or a traceback.

    `--traceback` shows the traceback all the same. Options cannot be abbreviated: in a script an
    abbreviation could mean another option one day.
    """

    # A server refuses dangerous settings at its start; a script just wants an answer.
    requires_system_checks: tuple[str, ...] = (ENVIRONMENT,)

    @override
    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs, allow_abbrev=False)
        parser.register("type", None, _read_text)
        parser.error = _refuse_arguments(parser)  # type: ignore[method-assign]  # Django makes it
        return parser

    @override
    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            answer = super().execute(*args, **options)
            self.stdout.flush()
        except (DatabaseError, InterfaceError) as error:
            sentence = explain(error)
            if sentence is None:
                raise
            raise CommandError(sentence) from error
        except OSError as error:  # from a pipe that nobody reads to its end, or a full disk
            # Another program that called it goes on, with an output of its own.
            if self._called_from_command_line:  # type: ignore[attr-defined]  # unknown to the types
                _discard_output()
            raise CommandError(UNWRITTEN) from error
        except KeyboardInterrupt as interrupt:
            raise CommandError(STOPPED, returncode=INTERRUPTED) from interrupt
        return answer


def _read_text(argument: str) -> str:
    try:
        argument.encode()
    except UnicodeEncodeError:  # a byte that is not UTF-8 reaches Python as a lone surrogate
        raise ArgumentTypeError("not text in UTF-8") from None
    return argument


def _refuse_arguments(parser: CommandParser) -> Any:
    def refuse(message: str) -> NoReturn:
        sentence = f"{message[0].upper()}{message[1:]}."
        if parser.called_from_command_line:
            ArgumentParser.exit(parser, WRONG_ARGUMENTS, f"{sentence}\n")
        raise CommandError(sentence, returncode=WRONG_ARGUMENTS)

    return refuse


def _discard_output() -> None:
    """Let Python, as it ends, write what is left of the output to where it can be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
