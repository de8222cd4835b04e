"""Pages of records in order of ID, and of what a search finds by looking at record after record."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar
from uuid import UUID

from invoicing.search.words import matches, words_of

# Interface: Limits, "Search text".
SEARCH_LENGTH = 100

SCAN_BATCH_ROWS = 500
SCANNED_ROWS_PER_CALL = 2000

_Record = TypeVar("_Record")


class _Rows(Protocol):
    """The part of a queryset that a walk by ID needs; rows are typed by find_page."""

    def filter(self, *args: Any, **kwargs: Any) -> Self: ...
    def order_by(self, *field_names: str) -> Self: ...
    def __getitem__(self, rows: slice, /) -> Iterable[Any]: ...


_AnyRows = TypeVar("_AnyRows", bound=_Rows)


@dataclass(frozen=True, kw_only=True)
class PageRequest:
    """What is searched for, and which page of it; a blank search is none."""

    search: str = ""
    after: UUID | None = None
    limit: int
    newest_first: bool = False


def find_page(
    rows: _Rows, page: PageRequest, *, texts: Callable[[_Record], Iterable[str]]
) -> tuple[list[_Record], UUID | None]:
    """Return up to `limit` records in order of ID, and the cursor of the next page or None.

    It looks at row after row, so it is for kinds with few records. One call reads a bounded number
    of them: a page may be short, or empty, while its cursor leads on.
    """
    if page.search.strip():
        return _search_page(rows, page, texts=texts)
    records: Iterable[_Record] = in_order(rows, page)[: page.limit + 1]
    return cut_page(records, page.limit)


def _search_page(
    rows: _Rows, page: PageRequest, *, texts: Callable[[_Record], Iterable[str]]
) -> tuple[list[_Record], UUID | None]:
    found: list[_Record] = []
    words = words_of(page.search)
    if not words:
        return found, None
    for _ in range(SCANNED_ROWS_PER_CALL // SCAN_BATCH_ROWS):
        batch: list[_Record] = list(in_order(rows, page)[:SCAN_BATCH_ROWS])
        found += [record for record in batch if matches(words, texts(record))]
        if len(found) > page.limit or len(batch) < SCAN_BATCH_ROWS:
            return cut_page(found, page.limit)
        page = replace(page, after=_id_of(batch[-1]))
    return found, page.after


def in_order(rows: _AnyRows, page: PageRequest) -> _AnyRows:
    """Return the rows behind the page's cursor, in its direction."""
    if page.after is not None:
        rows = rows.filter(**{"pk__lt" if page.newest_first else "pk__gt": page.after})
    return rows.order_by("-pk" if page.newest_first else "pk")


def cut_page(records: Iterable[_Record], limit: int) -> tuple[list[_Record], UUID | None]:
    """Return the page of records of which one more than `limit` was read, if there are as many."""
    found = list(records)
    if len(found) <= limit:
        return found, None
    return found[:limit], _id_of(found[limit - 1])


def _id_of(record: Any) -> UUID:
    identifier: UUID = record.pk
    return identifier
