"""Tax rates: a change of what documents show makes a new rate, since they refer to the old."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from invoicing.errors import ConflictError
from invoicing.models import TaxRate
from invoicing.services.record_changes import Changes, write_changes

INACTIVE = _("This rate is no longer active. Add a new one instead.")
# What a person says of a rate once, in the rate itself.
MEANING = frozenset({"category", "names", "reasons"})
# What no document shows.
UNSHOWN = frozenset({"is_active", "revenue_account"})


def change_tax_rate(rate: TaxRate, changes: Changes) -> TaxRate:
    """Write changes, each to another value; return the rate, or the new one that replaces it.

    Only what no document shows, and a first category with its texts, change in the rate itself.
    With any other change a new rate replaces it, and the old one becomes inactive even if it seems
    unused, since a draft that is just being written may refer to it. Raises ValidationError, and
    ConflictError if it was replaced, or its category chosen, meanwhile.
    """
    if changes.keys() <= UNSHOWN:
        write_changes(rate, changes)
        return rate
    if not rate.is_active:
        raise ValidationError(INACTIVE)
    if (
        not rate.category
        and "category" in changes
        and changes.keys() <= MEANING | {"revenue_account"}
    ):
        return _write_meaning(rate, changes)
    if not TaxRate.objects.filter(pk=rate.pk, is_active=True).update(is_active=False):
        raise ConflictError
    kept = ("name", "percentage_ten_thousandths", "revenue_account", *MEANING)
    successor = TaxRate(**{name: getattr(rate, name) for name in kept})
    write_changes(successor, changes)
    return successor


def _write_meaning(rate: TaxRate, changes: Changes) -> TaxRate:
    for name, value in changes.items():
        setattr(rate, name, value)
    rate.full_clean()
    unknown = TaxRate.objects.filter(pk=rate.pk, is_active=True, category="")
    if not unknown.update(**changes):
        raise ConflictError
    return rate
