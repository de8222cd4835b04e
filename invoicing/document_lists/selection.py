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
    def narrowing(self) -> int:
        """How many conditions there are besides the tab's, the reach of the user included."""
        return len(self.filters.conditions()) + (not self.sees_all)

    @cached_property
    def is_short(self) -> bool:
        """Whether all tabs together have at most MOST_READ documents, as one condition shows.

        Conditions are tried one by one, since each has an index and all together have none.
        """
        if not self.sees_all and _is_short(self.visible):
            return True
        conditions = self.filters.conditions() or [Condition(Q(), ("id",))] * self.sees_all
        return any(_leaves_few(each) for each in conditions)

    @cached_property
    def is_tab_short(self) -> bool:
        """Whether the tab has at most MOST_READ documents, as one condition shows."""
        return self.is_short or self.is_short_by(self.tab)

    def is_short_by(self, tab: Tab) -> bool:
        """Return whether the condition of a tab alone leaves at most MOST_READ."""
        if tab not in self._short_tabs:
            condition = tab.condition(self.waiting)
            self._short_tabs[tab] = condition is not None and _leaves_few(condition)
        return self._short_tabs[tab]

    @cached_property
    def _short_tabs(self) -> dict[Tab, bool]:
        return {}


def _leaves_few(condition: Condition) -> bool:
    # In order of the index: else a database that expects many reads the table from its beginning,
    # where there may be none.
    return _is_short(Document.objects.filter(condition.holds).order_by(*condition.index))


def _is_short(documents: DocumentQuerySet) -> bool:
    """Return whether there are at most MOST_READ, without counting further."""
    return documents[: MOST_READ + 1].count() <= MOST_READ
