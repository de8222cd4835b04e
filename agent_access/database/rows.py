"""A model's rows in statements written by hand, for the few that calls execute most (ADR 13).

Django builds every query anew, which costs more than its execution. Names of tables and columns,
and the conversion of values for either database, still come from the model. Everywhere here a
`name` is a field's `attname`.
"""

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

import orjson
from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, Model
from django.db.models.base import ModelState

from agent_access.database.statements import NOTHING, Statement, Statements, execute_together

Record = TypeVar("Record", bound=Model)

# A part of a WHERE clause, in which the row is called `record`, and its parameters.
Condition = tuple[str, Sequence[Any]]
EVERY: Condition = ("TRUE", ())

# By vendor: the SQL functions that make a JSON array of rows, and a JSON object of one row.
JSON_FUNCTIONS = {
    "postgresql": {"many": "json_agg", "one": "json_build_object"},
    "sqlite": {"many": "json_group_array", "one": "json_object"},
}
# The fields whose values JSON has as the model has them.
JSON_FIELDS = (models.CharField, models.TextField, models.IntegerField)


class Rows(Generic[Record]):
    """The rows of a model with its columns in one order: all, `only` some, or `without` some."""

    def __init__(
        self,
        model: type[Record],
        *,
        only: Container[str] | None = None,
        without: Container[str] = (),
    ) -> None:
        self.model = model
        self._only = only
        self._without = without

    @cached_property
    def table(self) -> str:
        """Return the quoted name of the table."""
        return quote(self.model._meta.db_table)

    @cached_property
    def key(self) -> str:
        """Return the quoted name of the primary key's column."""
        return quote(self.model._meta.pk.column)

    @cached_property
    def columns(self) -> list[str]:
        return [str(field.column) for field in self._fields]

    @cached_property
    def placeholders(self) -> list[str]:
        """Return a placeholder for each column, on PostgreSQL with a cast to its type.

        The cast has no length, since it would cut off what the column should refuse as too long.
        """
        if connection.vendor != "postgresql":
            return ["%s"] * len(self._fields)
        return [f"%s::{_kind(field)}" for field in self._fields]

    def select(self, alias: str) -> str:
        """Return the list of columns for a SELECT; `read` takes the row that it gives."""
        return ", ".join(f"{alias}.{quote(column)}" for column in self.columns)

    def make(self, values: Mapping[str, Any]) -> Record:
        """Return a new record with the values of all its columns.

        Bypasses Django's constructor, which takes longer than all else that is done with a row.
        """
        record = self.model.__new__(self.model)
        record._state = ModelState()
        vars(record).update(values)
        return record

    def read(self, values: Sequence[Any]) -> Record:
        """Return the record of a selected row; bypasses Django's constructor, too."""
        return self._read_saved(self.read_columns(values))

    def read_from_db(self, values: Sequence[Any]) -> Record:
        """Return the record of a selected row by `from_db`, which the project may override."""
        columns = self.read_columns(values)
        return self.model.from_db(DEFAULT_DB_ALIAS, self._names, list(columns.values()))

    def _read_saved(self, columns: Mapping[str, Any]) -> Record:
        record = self.make(columns)
        record._state.adding, record._state.db = False, DEFAULT_DB_ALIAS
        return record

    def read_columns(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return the converted values of a selected row by name, without the cost of a record."""
        columns = dict(zip(self._names, values, strict=True))
        for name, convert in self._converters.items():
            columns[name] = convert(columns[name])
        return columns

    def find(self, *conditions: Condition, suffix: str = "") -> list[Record]:
        """Return the records that meet all conditions; `suffix` is SQL that sorts or locks them."""
        where, values = _join(conditions)
        with connection.cursor() as cursor:
            cursor.execute(f"{self._selection} WHERE {where} {suffix}", values)
            return [self.read(row) for row in cursor.fetchall()]

    def as_json(self, condition: str) -> str:
        """Return the subquery that selects the rows that meet a condition as JSON, in no order.

        It is an array of objects with the values by name; for no rows PostgreSQL returns null.
        """
        pairs = zip(self._names, self.columns, strict=True)
        members = ", ".join(f"'{name}', record.{quote(column)}" for name, column in pairs)
        functions = JSON_FUNCTIONS[connection.vendor]
        array = f"CAST({functions['many']}({functions['one']}({members})) AS text)"
        return f"(SELECT {array} FROM {self.table} AS record WHERE {condition})"  # noqa: S608  names only

    def read_json(self, rows: str | None) -> list[Record]:
        """Return the records of what `as_json` selected."""
        found: list[dict[str, Any]] = orjson.loads(rows or "[]")
        for name, convert in self._json_converters.items():
            for columns in found:
                columns[name] = convert(columns[name])
        return [self._read_saved(columns) for columns in found]

    def equal(self, **wanted: Any) -> Condition:
        """Return the condition that the row has these values; None becomes IS NULL."""
        return _join([self._equal(name, value) for name, value in wanted.items()])

    def among(self, name: str, wanted: Collection[Any]) -> Condition:
        """Return the condition that the row has one of these values."""
        if len(wanted) == 1:
            # With an array PostgreSQL plans anew each time, since its length may differ.
            return self._equal(name, *wanted)
        column, values = self._column(name), [self.adapt(name, value) for value in wanted]
        if connection.vendor == "postgresql":
            return f"record.{column} = ANY(%s)", [values]
        return f"record.{column} IN ({', '.join(['%s'] * len(values))})", values

    def _equal(self, name: str, value: Any) -> Condition:
        column = f"record.{self._column(name)}"
        if value is None:
            return f"{column} IS NULL", ()
        return f"{column} = %s", [self.adapt(name, value)]

    def first_value_statement(self, name: str) -> str:
        """Return the statement that selects this value of the first row by primary key."""
        return f"SELECT {self._column(name)} FROM {self.table} ORDER BY {self.key} LIMIT 1"  # noqa: S608  names only

    def convert_key(self, value: Any) -> Any:
        """Return a primary key as the model has it."""
        convert = self._converters.get(self.model._meta.pk.attname)
        return convert(value) if convert else value

    def adapt(self, name: str, value: Any) -> Any:
        """Return a value of the model as a parameter that is compared with its column."""
        return self._adapters[name](value, connections[DEFAULT_DB_ALIAS])

    def parameters(self, record: Record) -> list[Any]:
        """Return the record's values as parameters, in the order of the columns."""
        database = connections[DEFAULT_DB_ALIAS]  # its proxy would look it up for each field
        return [
            field.get_db_prep_save(getattr(record, name), database)
            for field, name in zip(self._fields, self._names, strict=True)
        ]

    def insert_if_new(self, record: Record) -> bool:
        """Insert the record; return False, without inserting, if it conflicts with another row."""
        with connection.cursor() as cursor:
            cursor.execute(self._insert, self.parameters(record))
            is_inserted = bool(cursor.rowcount == 1)
        record._state.adding = not is_inserted
        return is_inserted

    def compose_update(self, values: Mapping[str, Any], condition: Condition) -> Statement:
        """Return the statement that updates the rows that meet the condition."""
        columns = ", ".join(f"{self._column(name)} = %s" for name in values)
        written = [self.adapt(name, value) for name, value in values.items()]
        where, wanted = condition
        sql = f"UPDATE {self.table} AS record SET {columns} WHERE {where}"  # noqa: S608  names only
        return sql, [*written, *wanted]

    def _column(self, name: str) -> str:
        return quote(self.columns[self._names.index(name)])

    @cached_property
    def _insert(self) -> str:
        columns, values = ", ".join(map(quote, self.columns)), ", ".join(self.placeholders)
        added = f"INSERT INTO {self.table} ({columns}) VALUES ({values})"  # noqa: S608  names only
        return f"{added} ON CONFLICT DO NOTHING"

    @cached_property
    def insertion(self) -> str:
        """Return PostgreSQL's statement to insert a JSON array of objects, their values by name."""
        columns, names = ", ".join(map(quote, self.columns)), ", ".join(map(quote, self._names))
        kinds = ", ".join(f"{quote(field.attname)} {_kind(field)}" for field in self._fields)
        rows = f"json_to_recordset(%s::json) AS added ({kinds})"
        return f"INSERT INTO {self.table} ({columns}) SELECT {names} FROM {rows}"  # noqa: S608  names only

    @cached_property
    def _selection(self) -> str:
        return f"SELECT {self.select('record')} FROM {self.table} AS record"  # noqa: S608  names only

    @cached_property
    def _fields(self) -> "Sequence[Field[Any, Any]]":
        fields = self.model._meta.concrete_fields
        return [field for field in fields if self._has(field.attname)]

    def _has(self, name: str) -> bool:
        return name not in self._without and (self._only is None or name in self._only)

    @cached_property
    def _names(self) -> list[str]:
        return [field.attname for field in self._fields]

    @cached_property
    def _adapters(self) -> dict[str, Callable[[Any, BaseDatabaseWrapper], Any]]:
        return {field.attname: field.get_db_prep_value for field in self._fields}

    @cached_property
    def _json_converters(self) -> dict[str, Callable[[Any], Any]]:
        found = {field.attname: _json_converter(field) for field in self._fields}
        return {name: convert for name, convert in found.items() if convert is not None}

    @cached_property
    def _converters(self) -> dict[str, Callable[[Any], Any]]:
        """Return the converters of those columns that need one: on PostgreSQL few do."""
        found = {field.attname: _converter(field) for field in self._fields}
        return {name: convert for name, convert in found.items() if convert is not None}


# Which rows of a model.
Search = tuple[Rows[Any], Condition]


def find_together(*searches: Search) -> list[list[Any]]:
    """Return the records of each search, in no order; one statement finds all, at one moment."""
    if not searches:
        return []
    selected = ", ".join(rows.as_json(condition) for rows, (condition, _) in searches)
    values = [value for _, (_, each) in searches for value in each]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {selected}", values)
        found = cursor.fetchone()
    return [rows.read_json(text) for (rows, _), text in zip(searches, found, strict=True)]


def insert_together(
    *groups: tuple[Rows[Any], Sequence[Model]], extra_statements: Statements = NOTHING
) -> None:
    """Insert all records and execute the extra statements; on PostgreSQL all in one statement.

    There the records of a model are one JSON parameter: a hundred rows of twelve values each would
    cost Django more than all else in a write. No statement sees what another of them writes.
    """
    filled = [(rows, records) for rows, records in groups if records]
    statements = dict(extra_statements)
    for rows, records in filled:
        if connection.vendor == "postgresql":
            name = f"new_{rows.model._meta.model_name}"
            statements[name] = rows.insertion, [_dump_records(records)]
        else:
            rows.model._base_manager.bulk_create(records)  # noqa: SLF001  whatever managers it has
    execute_together(statements)
    for _, records in filled:
        for record in records:
            record._state.adding = False


def _dump_records(records: Sequence[Model]) -> str:
    return orjson.dumps([vars(record) for record in records], default=_leave_out_state).decode()


def _leave_out_state(value: object) -> None:
    """Write null for `_state`, the only attribute of a record that is not a value."""
    if not isinstance(value, ModelState):
        raise TypeError(type(value).__name__)


@cache
def quote(name: str | None) -> str:
    """Return the name as a quoted identifier: it may be a word of SQL or have capitals."""
    return str(connection.ops.quote_name(str(name)))


def _join(conditions: Sequence[Condition]) -> Condition:
    """Return the condition that all of them are met."""
    where = " AND ".join(condition for condition, _ in conditions)
    return where or "TRUE", [value for _, values in conditions for value in values]


def _kind(field: "Field[Any, Any]") -> str:
    return str(field.db_type(connection)).partition("(")[0]


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


def _json_converter(field: "Field[Any, Any]") -> Callable[[Any], Any] | None:
    """Return what converts a column's value in JSON to the field's, or None where nothing does.

    SQLite writes times and booleans as it keeps them, so times cannot be read from JSON.
    """
    kept = field.target_field if isinstance(field, models.ForeignKey) else field
    if isinstance(kept, JSON_FIELDS) and not hasattr(kept, "from_db_value"):
        return None
    if isinstance(kept, (models.UUIDField, models.BooleanField)):
        to_python: Callable[[Any], Any] = kept.to_python
        return to_python
    raise TypeError(f"{field} cannot be read from JSON")
