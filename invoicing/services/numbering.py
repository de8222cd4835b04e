"""Document numbers without gaps: each is taken once, in the transaction that issues.

A format and the start of a series change in between: both sides lock the format first.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import BigIntegerField, Exists, F, Max, OuterRef, QuerySet, Value
from django.db.models.functions import Cast, Substr
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from invoicing.errors import ConflictError
from invoicing.locks import require_transaction
from invoicing.models import Document, DocumentType, NumberFormat, NumberSeries
from invoicing.number_formats import (
    NUMBER_LENGTH,
    PREFIX_PATTERN,
    NumberStyle,
    can_write_the_same,
)
from invoicing.services.record_changes import find_changed, write_changes

DEFAULT_PREFIXES = {DocumentType.INVOICE: "INV-", DocumentType.CREDIT_NOTE: "CN-"}
LARGEST_START = 999_999_999

UNREADABLE_PREFIX = _(
    "A prefix has capital letters (A to Z), digits and - . / _ only, and begins with a letter or"
    " a digit."
)
TOO_LONG = format_lazy(
    _(
        "Numbers have at most {length} characters, with room for six digits. Choose a shorter"
        " prefix or fewer digits."
    ),
    length=NUMBER_LENGTH,
)
SAME_NUMBERS = _("Invoices and credit notes could get the same number. Choose another prefix.")
GIVEN_ALREADY = _(
    "%(number)s was issued already and would be given again. Choose another prefix, or a larger"
    " next value."
)
IS_BEGUN = _("A document has a number of this series already: the next value follows from it.")


class AssignedNumber(NamedTuple):
    """A number such as "INV-2026-0085", with its series and its value there (85)."""

    series_id: UUID
    series_value: int
    number: str


class Numbering(NamedTuple):
    """How documents of a type are numbered: the next value is that of the series of a year.

    `is_begun` tells that a document bears a number of that series.
    """

    style: NumberStyle
    next_value: int
    is_begun: bool


def next_number(document_type: DocumentType, year: int) -> AssignedNumber:
    """Take the next number of this type of document, for issue dates in this year.

    The format and the series stay locked until the transaction ends. Raises RuntimeError outside of
    one, and ConflictError if the number is too long.
    """
    [number_format] = lock_formats(document_type)
    series = _series_of(number_format, year)
    if not series.update(last_value=F("last_value") + 1):
        # If two calls begin the series at once, the second insert waits, then does nothing.
        begun = NumberSeries(type=document_type, year=number_format.series_year(year))
        NumberSeries.objects.bulk_create([begun], ignore_conflicts=True)
        series.update(last_value=F("last_value") + 1)
    taken = series.get()
    number = number_format.style.write(year, taken.last_value)
    if len(number) > NUMBER_LENGTH:
        raise ConflictError
    return AssignedNumber(taken.id, taken.last_value, number)


def lock_formats(*types: DocumentType) -> list[NumberFormat]:
    """Return the formats of these types, in the order of their names, locked; make missing ones."""
    require_transaction()
    formats = NumberFormat.objects.filter(type__in=types).order_by("type")
    locked = formats.select_for_update(no_key=True)
    found = list(locked.all())
    if len(found) < len(types):
        # If two calls make one at once, the second insert waits, then does nothing.
        missing = set(types) - {DocumentType(each.type) for each in found}
        made = [_default_format(each) for each in sorted(missing)]
        NumberFormat.objects.bulk_create(made, ignore_conflicts=True)
        found = list(locked.all())
    return found


def read_format(document_type: DocumentType) -> NumberFormat:
    chosen = NumberFormat.objects.filter(type=document_type).first()
    return chosen or _default_format(document_type)


def _default_format(document_type: DocumentType) -> NumberFormat:
    return NumberFormat(type=document_type, prefix=DEFAULT_PREFIXES[document_type])


def _series_of(number_format: NumberFormat, year: int) -> QuerySet[NumberSeries]:
    series_year = number_format.series_year(year)
    return NumberSeries.objects.filter(type=number_format.type, year=series_year)


def read_numbering(year: int) -> dict[DocumentType, Numbering]:
    """Return for each type how documents that are dated in this year are numbered next."""
    return {each: _read_numbering(read_format(each), year) for each in DocumentType}


def _read_numbering(number_format: NumberFormat, year: int) -> Numbering:
    series = _series_of(number_format, year).annotate(is_begun=_is_begun()).first()
    if series is None:
        return Numbering(number_format.style, next_value=1, is_begun=False)
    return Numbering(number_format.style, series.last_value + 1, series.is_begun)


def _is_begun() -> Exists:
    return Exists(Document.objects.filter(series=OuterRef("pk")))


def save_format(number_format: NumberFormat, style: NumberStyle) -> list[str]:
    """Save how numbers of a locked format are written from now on; return what changed, by name.

    Raises ValidationError, by field, for what no number can be; require_distinct() does the rest.
    """
    if style.prefix and not re.fullmatch(PREFIX_PATTERN, style.prefix):
        raise ValidationError({"prefix": UNREADABLE_PREFIX})
    if not style.fits:
        raise ValidationError({"prefix": TOO_LONG})
    changes = find_changed(number_format, style._asdict())
    if changes:
        write_changes(number_format, changes)
    return [*changes]


def start_series(number_format: NumberFormat, year: int, *, next_value: int) -> None:
    """Let numbers of this year, in a locked format, go on from the value, up or down.

    Raises ValidationError if a document bears the series.
    """
    if len(number_format.style.write(year, next_value)) > NUMBER_LENGTH:
        raise ValidationError({"next_value": TOO_LONG})
    series, last_value = _series_of(number_format, year), next_value - 1
    if series.filter(~_is_begun()).update(last_value=last_value):
        return
    if series.exists():
        raise ValidationError({"next_value": IS_BEGUN})
    series_year = number_format.series_year(year)
    NumberSeries.objects.create(type=number_format.type, year=series_year, last_value=last_value)


def require_distinct(formats: Sequence[NumberFormat]) -> None:
    """Raise ValidationError unless the locked formats, of all types, never repeat a number.

    Neither one of each other's, in any year, nor one that was issued in whatever format.
    """
    for one, other in combinations(formats, 2):
        if can_write_the_same(one.style, other.style):
            raise ValidationError(SAME_NUMBERS)
    for each in formats:
        for number in _find_repeated(each):
            raise ValidationError(GIVEN_ALREADY % {"number": number})


def _find_repeated(number_format: NumberFormat) -> Iterator[str]:
    """Yield issued numbers that this format would write again, by the values of its series now."""
    style, last_values = number_format.style, NumberSeries.objects.filter(type=number_format.type)
    written_year = Substr("number", len(style.prefix) + 1, 4) if style.has_year else Value("0")
    value = Cast(Substr("number", style.head_length + 1), BigIntegerField())
    issued = Document.objects.filter(number__regex=style.pattern)
    highest = issued.values(year=Cast(written_year, BigIntegerField())).annotate(last=Max(value))
    given = dict(last_values.values_list("year", "last_value"))
    for year, last in highest.values_list("year", "last"):
        if last > given.get(year, 0):
            yield style.write(year, last)
