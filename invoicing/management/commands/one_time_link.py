"""A way back in for somebody without a password, the owner too."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from invoicing.administration.sign_ins import make_code_as_operator
from invoicing.errors import CodeInvalidError
from invoicing.management.people import find_person
from invoicing.one_time_links import HOURS, link_of


class Command(OperatorCommand):
    help = f"Prints a link with which a person chooses a password, once, within {HOURS} hours."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        person = find_person(options["email"])
        try:
            code = make_code_as_operator(person.pk)
        except CodeInvalidError:
            raise CommandError("This person is not active and cannot sign in.") from None
        self.stdout.write(f"For {person.email}, once, within {HOURS} hours:\n{link_of(code)}")
