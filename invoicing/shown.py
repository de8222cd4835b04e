"""What is shown of a draft's records: their fields in the order of the columns, for two readers.

Agents get JSON: amounts are strings of minor units, texts that were left out null. People get
facts, which they approve and issuing freezes: there amounts are integers, and texts that were left
out "". Both follow from the models and from `draft_fields.py`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from django.db.models import Model
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from invoicing.draft_fields import (
    COLUMNS,
    DRAFT_TEXTS,
    DraftInput,
    LineItemInput,
    PersonInput,
)
from invoicing.field_kinds import Amount, FieldKind, Id, LanguageCode, Percentage
from invoicing.models import Line, TaxRow

NAMES = {column: name for name, column in COLUMNS.items()}


class Shown:
    """Fields by their names on the wire; `type` is a TypedDict of them.

    Their types are those that `asked` declares, or, for what is computed, those of `computed`.
    """

    def __init__(
        self, title: str, fields: Iterable[str], asked: type[BaseModel], /, **computed: Any
    ) -> None:
        declared = {name: _type_of(field) for name, field in asked.model_fields.items()}
        types = declared | computed
        self.type = TypedDict(title, {field: types[field] for field in fields})  # type: ignore[misc]  # made here
        self.names = tuple(self.type.__annotations__)
        self._left_out = {field for field in _later_fields(asked) if field in self.names}
        self._adapter = TypeAdapter(self.type)

    def values(self, record: Model) -> dict[str, Any]:
        """Return the record's values by name."""
        return {name: getattr(record, COLUMNS.get(name, name)) for name in self.names}

    def for_agents(self, values: Mapping[str, Any]) -> Any:
        """Return values by name as the wire has them."""
        own = {name: values[name] for name in self.names}
        return self._adapter.dump_python(own, mode="json", warnings=False)

    def facts_of(self, record: Model) -> dict[str, Any]:
        """Return the facts of a record; what it lacks of later releases' fields is left out."""
        facts = self._adapter.dump_python(self.values(record), warnings=False)
        return {name: facts[name] for name in facts if facts[name] or name not in self._left_out}


def _type_of(field: FieldInfo) -> Any:
    """Return the declared type without the description, which says what to send."""
    kind: Any = field.annotation
    for each in field.metadata:
        kind = Annotated[kind, each]
    return kind


def _later_fields(asked: type[BaseModel]) -> Iterator[str]:
    for name, field in asked.model_fields.items():
        kinds = (each for each in field.metadata if isinstance(each, FieldKind))
        if any(not kind.always_in_facts for kind in kinds):
            yield name


# What only people see.
_NOT_FOR_AGENTS = frozenset({"corrects", "category", "printed_name", "reason"})


def _columns(model: type[Model]) -> Iterator[str]:
    for field in model._meta.concrete_fields:
        if field.name not in {"id", "document", "position"} | _NOT_FOR_AGENTS:
            yield NAMES.get(field.attname, field.attname)


TEXTS = Shown("Texts", ("language", *DRAFT_TEXTS), DraftInput, language=LanguageCode)
LINE = Shown("Line", _columns(Line), LineItemInput, discount_amount=Amount, net_amount=Amount)
TAX_ROW = Shown(
    "TaxRow",
    _columns(TaxRow),
    BaseModel,
    tax_rate_id=Id,
    name=str,
    percentage=Percentage,
    taxable_amount=Amount,
    tax_amount=Amount,
)
FOR_PEOPLE = Shown("ForPeople", PersonInput.model_fields, PersonInput)
TAX_ROW.type.__doc__ = "What all lines of one rate come to."
