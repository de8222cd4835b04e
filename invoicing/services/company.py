"""The company of this installation, and its owner."""

from collections.abc import Sequence

from invoicing.access import may_be_delegate
from invoicing.errors import ConflictError, OwnerUnfitError
from invoicing.models import Company, User
from invoicing.rows import COMPANIES


def current_company() -> Company:
    """Return the company of this installation; raises Company.DoesNotExist before there is one."""
    return only_company(COMPANIES.find())


def only_company(found: Sequence[Company]) -> Company:
    """Return the company of those that were found, of which there cannot be two."""
    for company in found:
        return company
    raise Company.DoesNotExist


def transfer_ownership(company: Company, *, to: User) -> None:
    """Make another person the owner; raises OwnerUnfitError for guests and inactive people.

    Raises ConflictError if the owner changed since the company was read.
    """
    if not may_be_delegate(to):
        raise OwnerUnfitError
    if not Company.objects.filter(pk=company.pk, owner=company.owner_id).update(owner=to):
        raise ConflictError
    company.owner = to
