"""The first step of an installation: a link for the first person, who sets all else up in pages."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import CommandError
from typing_extensions import override

from agent_access.audit import OPERATOR
from agent_access.operator_command import OperatorCommand
from invoicing.administration.acts import locked_administration, record_admin_act
from invoicing.administration.sign_ins import make_code_as_operator
from invoicing.models import User
from invoicing.one_time_links import HOURS, link_of

NOT_EMPTY = "There are people already: one_time_link EMAIL prints a link for one of them."


class Command(OperatorCommand):
    help = (
        "Adds the first person, who may do everything, and prints a link with which they choose a"
        f" password, once, within {HOURS} hours."
    )

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL")
        parser.add_argument("--name", required=True)

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        person = self._add(options["email"], options["name"])
        link = link_of(make_code_as_operator(person.pk))
        self.stdout.write(
            f"For {person.email}, once, within {HOURS} hours:\n{link}\n"
            "It leads to a list of what to set up. Whoever adds the company there is its owner."
        )

    def _add(self, email: str, name: str) -> User:
        person = User(email=User.objects.normalize_email(email), name=name)
        person.is_staff = person.is_superuser = True
        person.set_unusable_password()
        with locked_administration():
            if User.objects.exists():
                raise CommandError(NOT_EMPTY)
            try:
                person.full_clean()
            except ValidationError as problem:
                raise CommandError(" ".join(problem.messages)) from None
            person.save()
            detail = "is_staff=yes, is_superuser=yes"
            record_admin_act("person:created", target=person.pk, actor=OPERATOR, detail=detail)
        return person
