"""Customers that may be the same as one that somebody is about to save."""

from uuid import UUID

from django.db.models import Q, Value
from django.db.models.functions import Lower

from invoicing.models import Customer, User
from invoicing.models.customers import compact_vat
from invoicing.vat_numbers import compact_vat_number

MOST_TOLD = 5


def find_likely_duplicates(
    user: User, *, name: str, vat_number: str, besides: UUID | None = None
) -> list[Customer]:
    """Return customers that the user sees with this name, in any case, or this VAT number.

    Of more than MOST_TOLD, any may be those: an order would lead the database past the index.
    """
    visible = Customer.objects.visible_to(user)
    if besides is not None:
        visible = visible.exclude(pk=besides)
    named = visible.alias(lower=Lower("name")).filter(lower=Lower(Value(name)))
    found = {each.pk: each for each in named.order_by()[:MOST_TOLD]}
    compact = compact_vat_number(vat_number)
    if compact:
        same = visible.alias(compact=compact_vat()).filter(~Q(vat_number=""), compact=compact)
        found |= {each.pk: each for each in same.order_by()[:MOST_TOLD]}
    return sorted(found.values(), key=lambda each: each.pk)[:MOST_TOLD]
