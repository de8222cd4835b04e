"""A way back in for somebody without a password, the owner too."""

from django.core.management import CommandError
from typing_extensions import override

from invoicing.administration.sign_ins import make_code_as_operator
from invoicing.errors import CodeInvalidError
from invoicing.management.person_command import PersonCommand
from invoicing.models import User
from invoicing.one_time_links import HOURS, link_of


class Command(PersonCommand):
    help = f"Prints a link with which a person can choose a password, once, within {HOURS} hours."

    @override
    def handle_person(self, person: User) -> None:
        try:
            code = make_code_as_operator(person.pk)
        except CodeInvalidError:
            raise CommandError("This person is not active and cannot sign in.") from None
        self.stdout.write(f"For {person.email}, once, within {HOURS} hours:\n{link_of(code)}")
