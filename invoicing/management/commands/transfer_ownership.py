"""A new owner, for when the former one is gone."""

from django.core.management import CommandError
from typing_extensions import override

from invoicing.administration.ownership import UNFIT_OWNER, transfer_ownership_as_operator
from invoicing.errors import OwnerUnfitError
from invoicing.management.person_command import PersonCommand
from invoicing.models import Company, User


class Command(PersonCommand):
    help = "Makes another person the owner and ends all connections."

    @override
    def handle_person(self, person: User) -> None:
        if Company.objects.filter(owner=person).exists():
            self.stdout.write(f"{person.email} is the owner already; nothing was changed.")
            return
        try:
            ended = transfer_ownership_as_operator(person.pk)
        except OwnerUnfitError:
            raise CommandError(UNFIT_OWNER) from None
        except Company.DoesNotExist:
            raise CommandError("There is no company yet that could be owned.") from None
        self.stdout.write(f"{person.email} is the owner now. Connections ended: {ended}.")
