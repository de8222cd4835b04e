"""Pages over tables that grow without end."""

from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from typing_extensions import override

MAX_ROWS = 10_000
# A question that no index answers is put to the newest rows only: all of them would take minutes.
SEARCHED_ROWS = 100_000
# Longer than anything that is looked for; SQLite puts no thousand words to one table.
MAX_SEARCH_LENGTH = 200

_BEYOND = "beyond_search"


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # generic for mypy only
    """Counts and shows no more than the first rows of the order; filters reach the others."""

    @override
    @cached_property
    def count(self) -> int:
        rows = self.object_list
        return rows[:MAX_ROWS].count() if isinstance(rows, QuerySet) else len(rows)

    @property
    def is_cut(self) -> bool:
        return self.count == MAX_ROWS


class OfferedOrderList(ChangeList):
    """Sorts by what its page offers only, where Django's own believes the address.

    `searched` is to how many rows its question was put, and empty if to all of them.
    """

    def __init__(self, request: HttpRequest, *args: Any, **options: Any) -> None:
        super().__init__(request, *args, **options)
        self.searched = _searched_of(request)

    @override
    def get_ordering_field(self, field_name: Any) -> Any:
        is_offered = field_name in (self.sortable_by or ())
        return super().get_ordering_field(field_name) if is_offered else None


def bound_search(request: HttpRequest, rows: QuerySet[Any], *, by: str) -> QuerySet[Any]:
    """Return the newest of the rows, which only indexed filters have narrowed so far.

    `by` is the column, growing with time and with an index, by which pages are ordered. The bound
    is found once for a page.
    """
    if _BEYOND not in request.__dict__:
        older = rows.order_by(f"-{by}").values_list(by, flat=True)[
            SEARCHED_ROWS : SEARCHED_ROWS + 1
        ]
        request.__dict__[_BEYOND] = older.first()
    beyond = request.__dict__[_BEYOND]
    return rows if beyond is None else rows.filter(**{f"{by}__gt": beyond})


def _searched_of(request: HttpRequest) -> str:
    return f"{SEARCHED_ROWS:,}" if request.__dict__.get(_BEYOND) else ""
