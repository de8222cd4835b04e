"""Tax rates: a change of name or percentage makes a new rate, since documents refer to the old."""

from django.core.exceptions import ValidationError

from invoicing.errors import ConflictError
from invoicing.models import TaxRate
from invoicing.services.record_changes import Changes, write_changes

INACTIVE = "This rate is no longer active. Add a new one instead."


def change_tax_rate(rate: TaxRate, changes: Changes) -> TaxRate:
    """Write changes, each to another value; return the rate, or the new one that replaces it.

    Only `is_active` changes in the rate itself. With any other change a new rate replaces it, and
    the old one becomes inactive even if it seems unused, since a draft that is just being written
    may refer to it. Raises ValidationError, and ConflictError if it was replaced meanwhile.
    """
    if changes.keys() <= {"is_active"}:
        write_changes(rate, changes)
        return rate
    if not rate.is_active:
        raise ValidationError(INACTIVE)
    if not TaxRate.objects.filter(pk=rate.pk, is_active=True).update(is_active=False):
        raise ConflictError
    successor = TaxRate(name=rate.name, percentage_ten_thousandths=rate.percentage_ten_thousandths)
    write_changes(successor, changes)
    return successor
