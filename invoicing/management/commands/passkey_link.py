"""A way to a passkey for somebody without one, the owner too."""

from django.core.management import CommandError
from typing_extensions import override

from invoicing.administration.passkeys import make_passkey_link_as_operator
from invoicing.errors import CodeInvalidError
from invoicing.management.person_command import PersonCommand
from invoicing.models import User
from invoicing.one_time_links import HOURS


class Command(PersonCommand):
    help = (
        "Prints a link with which a person who knows their password adds a passkey, in place of"
        f" those that they lost, once, within {HOURS} hours."
    )

    @override
    def handle_person(self, person: User) -> None:
        try:
            link = make_passkey_link_as_operator(person)
        except CodeInvalidError:
            raise CommandError("This person is not active and cannot sign in.") from None
        self.stdout.write(f"For {person.email}, once, within {HOURS} hours:\n{link}")
