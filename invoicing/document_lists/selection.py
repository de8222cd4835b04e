"""Which documents a list has for a person, and whether these are few enough to be sorted."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q
from django.utils.functional import cached_property

from invoicing.access import Permission
from invoicing.document_lists.filters import Condition, Filters, Tab
from invoicing.models import Document, User
from invoicing.models.documents import DocumentQuerySet

# So many are sorted, counted and added up for a page; of more, only what an index answers is shown.
MOST_READ = 10_000

NO_FILTERS = Filters()
EVERYTHING = Condition(Q(), ("id",), told_in_reach=True)


@dataclass(frozen=True)
class Selected:
    """The documents in a list: of those that the user sees, what the filters and the tab leave.

    `waiting` are the documents of which something waits for the user.
    """

    user: User
    filters: Filters = NO_FILTERS
    tab: Tab = Tab.ALL
    waiting: Collection[UUID] = ()

    @cached_property
    def visible(self) -> DocumentQuerySet:
        return Document.objects.visible_to(self.user)

    @cached_property
    def rows_of_all_tabs(self) -> DocumentQuerySet:
        return self.visible.filter(self.filters.condition())

    @cached_property
    def rows(self) -> DocumentQuerySet:
        return self.rows_of(self.tab)

    def rows_of(self, tab: Tab) -> DocumentQuerySet:
        return self.rows_of_all_tabs.filter(self.condition_of(tab))

    def condition_of(self, tab: Tab) -> Q:
        """Return the condition of a tab, which is empty for all."""
        condition = tab.condition(self.waiting)
        return condition.holds if condition else Q()

    @cached_property
    def sees_all(self) -> bool:
        return self.user.has_perm(Permission.VIEW_ALL_CUSTOMERS)

    @cached_property
    def is_narrowed(self) -> bool:
        """Whether a tab or a filter leaves out some of the documents that the user sees."""
        return self.tab != Tab.ALL or bool(self.filters.conditions())

    @cached_property
    def is_short(self) -> bool:
        """Whether all tabs together have at most MOST_READ documents, as one condition shows.

        Conditions are tried one by one, since each has an index and all together have none.
        """
        if not self.sees_all and self.leaves_few(EVERYTHING):
            return True
        conditions = self.filters.conditions() or [EVERYTHING]
        return any(self.leaves_few(each) for each in conditions)

    @cached_property
    def is_tab_short(self) -> bool:
        """Whether the tab has at most MOST_READ documents, as one condition shows."""
        return self.is_short or bool(self.is_short_by(self.tab))

    def is_short_by(self, tab: Tab) -> bool | None:
        """Return whether a tab without filters has at most MOST_READ; None if it is not known."""
        return self.leaves_few(tab.condition(self.waiting) or EVERYTHING)

    def leaves_few(self, condition: Condition) -> bool | None:
        """Return whether a condition alone leaves at most MOST_READ; None if it is not known."""
        count = self.count_left(condition)
        return None if count is None else count <= MOST_READ

    def count_left(self, condition: Condition) -> int | None:
        """Return how many documents that the user sees a condition alone leaves.

        MOST_READ + 1 stands for all that are more. It is None where counting would mean reading
        others' documents: how many these are must not shape what the user is told.
        """
        if not (self.sees_all or condition.told_in_reach):
            return None
        if condition.holds not in self._counted:
            # Of one column of the index, which has then all that is asked for.
            left = self.visible.filter(condition.holds).values(condition.columns[0])
            # In order of the index: else a database that expects many reads the table from its
            # beginning, where there may be none. Some customers' are found by customer.
            left = left.order_by(*condition.columns) if self.sees_all else left.order_by()
            self._counted[condition.holds] = left[: MOST_READ + 1].count()
        return self._counted[condition.holds]

    @cached_property
    def _counted(self) -> dict[Q, int]:
        return {}
