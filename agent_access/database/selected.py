"""A model's columns in a statement written by hand, and its records from the rows that it gives."""

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Field, Model
from django.utils.functional import cached_property

Record = TypeVar("Record", bound=Model)


class Selected(Generic[Record]):
    """The columns of a model, or some of them by their attributes' names, in its own order."""

    def __init__(self, model: type[Record], names: Collection[str] | None = None) -> None:
        self.model = model
        fields = model._meta.concrete_fields
        self._fields = [each for each in fields if names is None or each.attname in names]
        self._names = [field.attname for field in self._fields]
        self.width = len(self._fields)

    @property
    def table(self) -> str:
        return quote(self.model._meta.db_table)

    @property
    def key(self) -> str:
        return quote(self.model._meta.pk.column)

    def columns(self, alias: str) -> str:
        """Return the list of columns for a SELECT; `read` takes the row that it gives."""
        return ", ".join(f"{alias}.{quote(field.column)}" for field in self._fields)

    def read(self, row: Sequence[Any]) -> Record:
        """Return the record of a selected row, as Django's own queries do."""
        return self.model.from_db(DEFAULT_DB_ALIAS, self._names, self._convert(row))

    def values(self, row: Sequence[Any]) -> dict[str, Any]:
        """Return the values of a selected row by name, as Django's `values()` does."""
        return dict(zip(self._names, self._convert(row), strict=True))

    def _convert(self, row: Sequence[Any]) -> list[Any]:
        return [
            convert(value) if convert else value
            for convert, value in zip(self._converters, row, strict=True)
        ]

    def adapt(self, name: str, value: Any) -> Any:
        """Return a value of the model as a parameter that is compared with its column."""
        field: Any = self.model._meta.get_field(name)
        return field.get_db_prep_value(value, connection)

    @cached_property
    def _converters(self) -> "list[Callable[[Any], Any] | None]":
        return [_converter(field) for field in self._fields]


@cache
def quote(name: str | None) -> str:
    """Return the name as a quoted identifier: it may be a word of SQL or have capitals."""
    return str(connection.ops.quote_name(str(name)))


def _converter(field: "Field[Any, Any]") -> Callable[[Any], Any] | None:
    """Return what converts a column's value to the field's, or None where nothing does."""
    column = field.get_col(field.model._meta.db_table)
    steps = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
    if not steps:
        return None

    def convert(value: Any) -> Any:
        for step in steps:
            value = step(value, column, connection)
        return value

    return convert
