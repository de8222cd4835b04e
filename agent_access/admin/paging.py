"""Pages of tables that grow without end."""

from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.functional import cached_property
from typing_extensions import override

MAX_ROWS = 10_000
# A search without an index looks at the newest rows only: at all it would take minutes.
SEARCHED_ROWS = 100_000
# Longer than anything that is looked for; SQLite fails on a condition of a thousand words.
MAX_SEARCH_LENGTH = 200

_BEYOND = "beyond_search"


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # generic for mypy only
    """Counts and shows the first MAX_ROWS only; the others are reached by filters."""

    @override
    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return len(rows)
        # By time alone, as in the indexes: in any order PostgreSQL may read the whole table for
        # the few newest rows that a filter leaves, and in the page's it may sort all that it finds.
        return rows.order_by(*rows.query.order_by[:1])[:MAX_ROWS].count()

    @property
    def is_cut(self) -> bool:
        return self.count == MAX_ROWS


class SortableColumnsChangeList(ChangeList):
    """Sorts only by columns that its page offers, where Django trusts the URL.

    `searched` says how many rows the search looked at; it is empty if it was all of them.
    """

    def __init__(self, request: HttpRequest, *args: Any, **options: Any) -> None:
        super().__init__(request, *args, **options)
        is_cut = request.__dict__.get(_BEYOND) is not None
        self.searched = number_format(SEARCHED_ROWS, force_grouping=True) if is_cut else ""

    @override
    def get_ordering_field(self, field_name: Any) -> Any:
        is_offered = field_name in (self.sortable_by or ())
        return super().get_ordering_field(field_name) if is_offered else None


def bound_search(request: HttpRequest, rows: QuerySet[Any], *, by: str) -> QuerySet[Any]:
    """Return the newest SEARCHED_ROWS rows, which only indexed filters may have narrowed before.

    `by` is the indexed column by which pages are ordered, growing with time. The bound is found
    once per request.
    """
    if _BEYOND not in request.__dict__:
        older = rows.order_by(f"-{by}").values_list(by, flat=True)[
            SEARCHED_ROWS : SEARCHED_ROWS + 1
        ]
        request.__dict__[_BEYOND] = older.first()
    beyond = request.__dict__[_BEYOND]
    return rows if beyond is None else rows.filter(**{f"{by}__gt": beyond})
