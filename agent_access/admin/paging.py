"""Pages over tables that grow without end."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from typing_extensions import override

LONGEST = 10_000
# A question that no index answers is put to the newest rows only: all of them would take minutes.
SEARCHED = 100_000

_OLDEST = "oldest_searched"


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # generic for mypy only
    """Counts and shows no more than the first rows of the order; filters reach the others."""

    @override
    @cached_property
    def count(self) -> int:
        rows = self.object_list
        return rows[:LONGEST].count() if isinstance(rows, QuerySet) else len(rows)

    @property
    def is_cut(self) -> bool:
        return self.count == LONGEST


def bound_search(request: HttpRequest, rows: QuerySet[Any], *, by: str) -> QuerySet[Any]:
    """Return the newest of the rows, which only indexed filters have narrowed so far.

    `by` is a column that grows with time and has an index. The bound is found once for a page, and
    kept as an identifier, by which pages are ordered.
    """
    if _OLDEST not in request.__dict__:
        beyond = rows.order_by(f"-{by}").values_list("id", flat=True)
        request.__dict__[_OLDEST] = beyond[SEARCHED : SEARCHED + 1].first()
    oldest = request.__dict__[_OLDEST]
    return rows if oldest is None else rows.filter(id__gt=oldest)


def searched_of(request: HttpRequest) -> str:
    """Return how many rows a page's question was put to, and nothing if to all of them."""
    return f"{SEARCHED:,}" if request.__dict__.get(_OLDEST) else ""
