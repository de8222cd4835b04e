"""Tax rates: what a document may refer to never changes its name or percentage."""

from django.core.exceptions import ValidationError

from invoicing.errors import ConflictError
from invoicing.models import TaxRate
from invoicing.services.record_changes import Changes, find_changed, tidy_changes, write_changes

INACTIVE = "This rate is not active any more. Add a new one instead."


def change_tax_rate(rate: TaxRate, changes: Changes) -> TaxRate:
    """Return the rate as it is to be from now on: a new one, unless only its activity changes.

    The former one becomes inactive, used or not: whether a draft that is being written refers to
    it cannot be known. Raises ValidationError, ConflictError where it was replaced meanwhile.
    """
    tidied = tidy_changes(rate, changes)
    changed = find_changed(rate, tidied)
    if set(changed) <= {"is_active"}:
        write_changes(rate, {name: tidied[name] for name in changed})
        return rate
    if not rate.is_active:
        raise ValidationError(INACTIVE)
    if not TaxRate.objects.filter(pk=rate.pk, is_active=True).update(is_active=False):
        raise ConflictError
    successor = TaxRate()
    write_changes(successor, tidied)
    return successor
