"""The orders of a list of documents, each as stretches that indexes of the database follow."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from django.db.models import BooleanField, F, Func, Q, TextField, Value
from django.db.models.functions import Coalesce, Lower
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual

from invoicing.models import Document, DocumentStatus


class Order(StrEnum):
    """By what a list is ordered, as its address names it; within it, by when it was written."""

    WRITTEN = ""
    NUMBER = "number"
    DAY = "date"
    CUSTOMER = "customer"
    TOTAL = "total"


class _Tuple(Func):
    """Columns or values that are compared as one, as an index of these columns orders them."""

    template = "(%(expressions)s)"
    output_field = BooleanField()


# Where a document stands in a stretch: the values of its columns.
Place = Sequence[Any]
NAME = "customer__name"


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """The documents in a part of an order, by these columns, which are never null; last the ID.

    `condition` holds for those that belong to it, which `lacks` documents of one status.
    """

    columns: tuple[str, ...]
    condition: Q = field(default_factory=Q)
    lacks: DocumentStatus | None = None
    is_descending: bool = False

    def places(self) -> list[Any]:
        """Return what values_list() takes to read the places of documents."""
        return [_key(column) for column in self.columns]

    def order(self, *, follows_index: bool, is_reversed: bool = False) -> list[Any]:
        """Return what order_by() takes; without `follows_index`, no index can serve it.

        A database that expects a filter to leave much follows the index of an order, and may read
        all of it if that was wrong.
        """
        keys = self.places() if follows_index else [Coalesce(each, each) for each in self.places()]
        is_descending = self.is_descending is not is_reversed
        return [key.desc() if is_descending else key.asc() for key in keys]

    def behind(self, place: Place) -> Any:
        """Return the condition that a document comes after this place.

        With fewer values than columns, it is the end of all documents that have them.
        """
        lookup = LessThan if self.is_descending else GreaterThan
        return compare(lookup, self.places()[: len(place)], place, self._fields()[: len(place)])

    def up_to(self, place: Place) -> Any:
        """Return the condition that a document comes before this place, or stands there."""
        lookup = GreaterThanOrEqual if self.is_descending else LessThanOrEqual
        return compare(lookup, self.places(), place, self._fields())

    def _fields(self) -> list[Any]:
        return [_field_of(column) for column in self.columns]


def compare(lookup: Any, keys: Sequence[Any], place: Place, fields: Sequence[Any]) -> Any:
    """Return the condition that keys, as one, are less or greater than a place."""
    values = [Value(value, output_field=field) for value, field in zip(place, fields, strict=True)]
    return lookup(_Tuple(*keys), _Tuple(*values))


def _key(column: str) -> Any:
    return Lower(NAME) if column == NAME else F(column)


def _field_of(column: str) -> Any:
    if column == NAME:
        return TextField()
    own = Document._meta.get_field(column)
    return getattr(own, "target_field", own)


_STRETCHES = {
    Order.WRITTEN: [Stretch(columns=("id",))],
    # Series come in the order in which they began, and what has no number comes last.
    Order.NUMBER: [
        Stretch(
            columns=("series", "series_value", "id"),
            condition=Q(number__isnull=False),
            lacks=DocumentStatus.DRAFT,
        ),
        Stretch(
            columns=("id",),
            condition=Q(status=DocumentStatus.DRAFT),
            lacks=DocumentStatus.ISSUED,
        ),
    ],
    Order.DAY: [Stretch(columns=("issue_date", "id"))],
    Order.CUSTOMER: [Stretch(columns=(NAME, "customer", "id"))],
    # Within each currency: amounts of several cannot be compared.
    Order.TOTAL: [Stretch(columns=("currency_code", "grand_total", "id"))],
}


def stretches_of(order: Order, *, is_descending: bool) -> list[Stretch]:
    return [replace(stretch, is_descending=is_descending) for stretch in _STRETCHES[order]]
