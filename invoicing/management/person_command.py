"""The base of commands about one person, whom an operator names by e-mail address."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from invoicing.models import User


class PersonCommand(OperatorCommand):
    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            person = User.objects.get_by_natural_key(options["email"])
        except User.DoesNotExist:
            raise CommandError("There is no person with this e-mail address.") from None
        self.handle_person(person)

    def handle_person(self, person: User) -> None:
        raise NotImplementedError
