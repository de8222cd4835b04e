"""Django's command of this name, which would leave sessions and connections as they are."""

import getpass
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from invoicing.administration.sign_ins import change_password_as_operator
from invoicing.management.people import find_person


class Command(OperatorCommand):
    help = "Asks for a person's new password; ends the person's web sessions and connections."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        person = find_person(options["email"])
        password = _ask_twice(person.email)
        try:
            validate_password(password, person)
        except ValidationError as problem:
            raise CommandError(" ".join(problem.messages)) from None
        ended = change_password_as_operator(person, password)
        self.stdout.write(f"{person.email} has a new password. Connections ended: {ended}.")


def _ask_twice(email: str) -> str:
    try:
        password = getpass.getpass(f"New password of {email}: ")
        again = getpass.getpass("The same again: ")
    except EOFError:
        raise CommandError("No password was typed; nothing was changed.") from None
    if again != password:
        raise CommandError("The two passwords differ; nothing was changed.")
    return password
