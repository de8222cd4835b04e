"""Pages of records in order of ID, and a search that compares one record after the other."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from invoicing.search.words import matches, sought_in

# Interface: Limits, "Search text".
SEARCH_LENGTH = 100

# How many rows a search reads at once, and at most in one call.
SCAN_BATCH_ROWS = 500
SCANNED_ROWS_PER_CALL = 2000

_Record = TypeVar("_Record", bound=Model)


@dataclass(frozen=True, kw_only=True)
class PageRequest:
    """A search, or all records if it is blank, and the page: `limit` records behind `after`."""

    search: str = ""
    after: UUID | None = None
    limit: int
    newest_first: bool = False


def find_page(
    rows: QuerySet[_Record], page: PageRequest, *, texts: Callable[[_Record], Iterable[str]]
) -> tuple[list[_Record], UUID | None]:
    """Return up to `limit` records in order of ID, and the cursor of the next page or None.

    A search compares the `texts` of one row after the other, so this is for kinds with few records.
    One call reads a bounded number of rows: a page with a cursor may be short, or even empty.
    """
    if page.search.strip():
        return _search_page(rows, page, texts=texts)
    return cut_page(in_order(rows, page)[: page.limit + 1], page.limit)


def _search_page(
    rows: QuerySet[_Record], page: PageRequest, *, texts: Callable[[_Record], Iterable[str]]
) -> tuple[list[_Record], UUID | None]:
    found: list[_Record] = []
    sought = sought_in(page.search)
    if not sought:
        return found, None
    for _ in range(SCANNED_ROWS_PER_CALL // SCAN_BATCH_ROWS):
        batch = list(in_order(rows, page)[:SCAN_BATCH_ROWS])
        found += [record for record in batch if matches(sought, texts(record))]
        if len(found) > page.limit or len(batch) < SCAN_BATCH_ROWS:
            return cut_page(found, page.limit)
        page = replace(page, after=batch[-1].pk)
    return found, page.after


def in_order(rows: QuerySet[_Record], page: PageRequest) -> QuerySet[_Record]:
    """Return the rows behind the page's cursor, in the page's direction."""
    if page.after is not None:
        rows = rows.filter(**{"pk__lt" if page.newest_first else "pk__gt": page.after})
    return rows.order_by("-pk" if page.newest_first else "pk")


def cut_page(records: Iterable[_Record], limit: int) -> tuple[list[_Record], UUID | None]:
    """Return a page of records, of which the caller read `limit` + 1, and its cursor or None."""
    found = list(records)
    if len(found) <= limit:
        return found, None
    return found[:limit], found[limit - 1].pk
