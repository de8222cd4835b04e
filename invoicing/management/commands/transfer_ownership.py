"""A new owner, for when the former one is gone."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import CommandError
from typing_extensions import override

from agent_access.operator_command import OperatorCommand
from invoicing.administration.ownership import UNFIT_OWNER, hand_over
from invoicing.errors import OwnerUnfitError
from invoicing.management.people import find_person
from invoicing.models import Company


class Command(OperatorCommand):
    help = "Makes another person the owner and ends all connections."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        person = find_person(options["email"])
        if Company.objects.filter(owner=person).exists():
            self.stdout.write(f"{person.email} is the owner already; nothing was changed.")
            return
        try:
            ended = hand_over(person.pk)
        except OwnerUnfitError:
            raise CommandError(UNFIT_OWNER) from None
        except Company.DoesNotExist:
            raise CommandError("There is no company yet that could be owned.") from None
        self.stdout.write(f"{person.email} is the owner now. Connections ended: {ended}.")
