"""Replaces Django's command, which would neither end connections nor leave an audit event."""

import getpass

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import CommandError
from typing_extensions import override

from invoicing.administration.sign_ins import change_password_as_operator
from invoicing.management.person_command import PersonCommand
from invoicing.models import User


class Command(PersonCommand):
    help = "Asks for a person's new password; ends the person's web sessions and connections."

    @override
    def handle_person(self, person: User) -> None:
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
        again = getpass.getpass("Repeat it: ")
        password.encode()
    except EOFError:
        raise CommandError("No password was typed; nothing was changed.") from None
    except UnicodeError:  # a terminal refuses raw bytes itself, a pipe lets them through
        raise CommandError("The password is not text in UTF-8; nothing was changed.") from None
    if again != password:
        raise CommandError("The two passwords differ; nothing was changed.")
    return password
