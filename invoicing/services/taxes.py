"""Tax rates: a change of name or percentage makes a new rate, since documents refer to the old."""

from django.core.exceptions import ValidationError

from invoicing.errors import ConflictError
from invoicing.models import TaxRate
from invoicing.services.record_changes import Changes, find_changed, tidy_changes, write_changes

INACTIVE = "This rate is no longer active. Add a new one instead."


def change_tax_rate(rate: TaxRate, changes: Changes) -> TaxRate:
    """Return the rate with these changes: a new one, unless only `is_active` changes.

    The old one becomes inactive even if it seems unused, since a draft that is just being written
    may refer to it. Raises ValidationError, and ConflictError if it was replaced meanwhile.
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
