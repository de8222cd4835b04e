"""The input of a tool from a serializer of REST framework: the shape, not the meaning.

What has the shape is still judged by the serializer, when its view runs.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

from pydantic import AfterValidator, Field, WithJsonSchema, create_model
from rest_framework import serializers

from agent_access.fields import WHOLE, JSONSchema, RecordId, RecordNumber, ToolInput, problem
from agent_access.keys import Key, kind_of_key

ISO = "iso-8601"
DECIMAL = r"^-?[0-9]+(\.[0-9]+)?$"


class _Place(NamedTuple):
    """Where a field is: the name for a class of its own, its path, and whether all is optional."""

    name: str
    path: str
    partial: bool


class UnsupportedFieldError(Exception):
    """No input can be made of a field; `is_file` says whether since it takes a file."""

    def __init__(self, path: str, kind: str, *, is_file: bool) -> None:
        super().__init__(path, kind)
        self.path, self.kind, self.is_file = path, kind, is_file


def make_input(serializer: Any, *, name: str, partial: bool = False) -> type[ToolInput]:
    """Return the closed input with the fields that a client may write; `name` is its class's.

    Where the serializer takes null, null is a value. With `partial` every field may be left out.
    Raises UnsupportedFieldError.
    """
    return _make_model(serializer, name=name, path="", partial=partial)


def _make_model(serializer: Any, *, name: str, path: str, partial: bool) -> type[ToolInput]:
    declared: dict[str, Any] = {}
    written = {key: each for key, each in serializer.fields.items() if _is_written(each)}
    for key, field in written.items():
        inner = _Place(f"{name}_{key}", f"{path}{key}", partial)
        kind = _find_kind(field, inner)
        kind = kind | None if field.allow_null else kind
        is_required = field.required and not partial
        options: dict[str, Any] = (
            {} if is_required else {"default": None, "validate_default": False}
        )
        if field.help_text:
            options["description"] = str(field.help_text)
        # A name that pydantic uses itself, such as `copy`, is one of the wire only.
        is_taken = hasattr(ToolInput, key)
        declared[f"{key}_" if is_taken else key] = (
            kind,
            Field(**options, alias=key if is_taken else None),
        )
    model: type[ToolInput] = create_model(name, __base__=ToolInput, **declared)
    model.keeps_null = frozenset(key for key, field in written.items() if field.allow_null)
    return model


def _is_written(field: Any) -> bool:
    return not (field.read_only or isinstance(field, serializers.HiddenField))


def _find_kind(field: Any, place: _Place) -> Any:
    for kinds, make in KINDS.items():
        if isinstance(field, kinds):
            return make(field, place)
    is_file = isinstance(field, serializers.FileField)
    raise UnsupportedFieldError(place.path, type(field).__name__, is_file=is_file)


def _refuse_nul(text: str) -> str:
    if "\0" in text:  # no text column of PostgreSQL takes it
        raise problem("must not hold the character U+0000")
    return text


NO_NUL = AfterValidator(_refuse_nul)


def _text(field: Any, place: _Place) -> Any:
    least = None if getattr(field, "allow_blank", False) else 1
    longest = getattr(field, "max_length", None)
    return Annotated[str, Field(min_length=least, max_length=longest), NO_NUL]


def _format(name: str) -> Callable[[Any, _Place], Any]:
    """Return the kind of a text whose format JSON Schema has a name for."""
    schema: JSONSchema = {"type": "string", "format": name}

    def make(field: Any, place: _Place) -> Any:
        formats = getattr(field, "input_formats", [ISO])
        is_named = ISO in formats and not getattr(field, "allow_blank", False)
        return Annotated[str, NO_NUL, WithJsonSchema(schema)] if is_named else _text(field, place)

    return make


def _fixed(kind: Any) -> Callable[[Any, _Place], Any]:
    return lambda *_: kind


def _decimal(field: Any, place: _Place) -> Any:
    return Annotated[str, Field(pattern=DECIMAL, max_length=field.MAX_STRING_LENGTH)]


def _integer(field: Any, place: _Place) -> Any:
    return Annotated[int, Field(ge=field.min_value, le=field.max_value), WHOLE]


def _float(field: Any, place: _Place) -> Any:
    bounds = {"ge": field.min_value, "le": field.max_value}
    return Annotated[float, Field(allow_inf_nan=False, **bounds)]


def _choice(field: Any, place: _Place) -> Any:
    blank = [""] if field.allow_blank else []
    choices = tuple(dict.fromkeys([*field.choices, *blank]))
    if not choices or not all(type(each) in {str, int} for each in choices):
        raise UnsupportedFieldError(place.path, type(field).__name__, is_file=False)
    return Literal[choices]


def _choices(field: Any, place: _Place) -> Any:
    return Annotated[list[_choice(field, place)], _length(field)]  # type: ignore[misc]  # a type made here


def _list(field: Any, place: _Place) -> Any:
    return Annotated[list[_find_kind(field.child, place)], _length(field)]  # type: ignore[misc]  # as above


def _related_list(field: Any, place: _Place) -> Any:
    return Annotated[list[_find_kind(field.child_relation, place)], _length(field)]  # type: ignore[misc]  # as above


def _length(field: Any) -> Any:
    least = getattr(field, "min_length", None) or (0 if field.allow_empty else 1)
    return Field(min_length=least, max_length=getattr(field, "max_length", None))


def _nested(field: Any, place: _Place) -> Any:
    path = f"{place.path}."
    return _make_model(field, name=place.name, path=path, partial=place.partial)


def _key(field: Any, place: _Place) -> Any:
    """Return the kind of another record's key."""
    if field.pk_field is not None:
        return _find_kind(field.pk_field, place)
    kind = kind_of_key(field.queryset.model._meta.pk)
    return KEYS[kind] if kind else _text(field, place)


KEYS: Mapping[type[Key], Any] = {UUID: RecordId, int: RecordNumber}

# The kinds of fields, a special one before the general one that it derives from.
KINDS: Mapping[Any, Callable[[Any, _Place], Any]] = {
    serializers.ListSerializer: _list,
    serializers.Serializer: _nested,
    serializers.ManyRelatedField: _related_list,
    serializers.PrimaryKeyRelatedField: _key,
    serializers.SlugRelatedField: _text,
    serializers.MultipleChoiceField: _choices,
    serializers.ChoiceField: _choice,
    serializers.ListField: _list,
    serializers.BooleanField: _fixed(bool),
    serializers.IntegerField: _integer,
    serializers.FloatField: _float,
    serializers.DecimalField: _decimal,
    serializers.UUIDField: _fixed(RecordId),
    serializers.DateTimeField: _format("date-time"),
    serializers.DateField: _format("date"),
    (serializers.TimeField, serializers.DurationField): _text,
    serializers.EmailField: _format("email"),
    serializers.CharField: _text,
}
