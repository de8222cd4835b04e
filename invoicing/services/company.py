"""The company of this installation, and its owner."""

from invoicing.errors import ConflictError, OwnerUnfitError
from invoicing.models import Company, User


def current_company() -> Company:
    """Return the company of this installation; raises Company.DoesNotExist before there is one."""
    return Company.objects.get()


def transfer_ownership(company: Company, *, to: User) -> None:
    """Make another person the owner; raises OwnerUnfitError for guests and inactive people.

    Raises ConflictError if the owner changed since the company was read.
    """
    if not to.is_listed:
        raise OwnerUnfitError
    if not Company.objects.filter(pk=company.pk, owner=company.owner_id).update(owner=to):
        raise ConflictError
    company.owner = to
