"""Pages over tables that grow without end."""

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property
from typing_extensions import override

LONGEST = 10_000


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
