"""How many documents a list has in each tab, and what those of one tab come to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count

from invoicing.document_lists.filters import Tab
from invoicing.document_lists.planning import plan_each_time
from invoicing.document_lists.selection import EVERYTHING, MOST_READ, Selected
from invoicing.models import DocumentStatus, DocumentType
from invoicing.models.documents import DocumentQuerySet


class Total(NamedTuple):
    """What documents in one currency come to, in minor units; credit notes are subtracted."""

    currency_code: str
    minor_unit: int
    amount: int


@dataclass(frozen=True)
class Summary:
    """The counts of the tabs, and the totals of the present one, by currency.

    A count is None where it would cost too much, and MOST_READ + 1 stands for more than MOST_READ.
    So are the totals None, of more than MOST_READ documents.
    """

    counts: Mapping[Tab, int | None]
    totals: list[Total] | None


class _Group(NamedTuple):
    """How many documents are alike in all but their amounts, and what these come to."""

    status: str
    type: str
    currency_code: str
    minor_unit: int
    size: int
    amount: int

    def is_in(self, tab: Tab) -> bool:
        return {
            Tab.ALL: True,
            Tab.DRAFTS: self.status == DocumentStatus.DRAFT,
            Tab.ISSUED: self.status == DocumentStatus.ISSUED,
            Tab.CREDIT_NOTES: self.type == DocumentType.CREDIT_NOTE,
        }[tab]


_GROUPED_TABS = (Tab.ALL, Tab.DRAFTS, Tab.ISSUED, Tab.CREDIT_NOTES)
_SOME, _MANY = None, MOST_READ + 1


@plan_each_time()
def summarize(selected: Selected) -> Summary:
    """Return the counts and totals of a list, as far as its page may cost."""
    counts: dict[Tab, int | None] = {}
    totals: list[Total] | None = None
    if selected.is_short:
        groups = _group(selected.rows_of_all_tabs)
        for tab in _GROUPED_TABS:
            counts[tab] = _count(groups, tab)
        totals = _add_up(each for each in groups if each.is_in(_grouped(selected.tab)))
    else:
        for tab in _GROUPED_TABS:
            counts[tab], of_tab = _summarize_tab(selected, tab)
            totals = of_tab if tab == selected.tab else totals
    waiting = _group(selected.rows_of(Tab.WAITING)) if selected.waiting else []
    counts[Tab.WAITING] = sum(each.size for each in waiting)
    return Summary(counts, _add_up(waiting) if selected.tab == Tab.WAITING else totals)


def _grouped(tab: Tab) -> Tab:
    return Tab.ALL if tab == Tab.WAITING else tab


def _summarize_tab(selected: Selected, tab: Tab) -> tuple[int | None, list[Total] | None]:
    """Return the count of one tab of a long list, and its totals if it is short and shown."""
    filters = selected.filters.conditions()
    if not selected.is_short_by(tab):
        # What one condition leaves is known to be more; what several leave, no index tells.
        conditions = [*filters, *filter(None, [tab.condition(())])] or [EVERYTHING]
        is_long = len(conditions) == 1 and selected.count_left(conditions[0])
        return _MANY if is_long else _SOME, None
    if tab == selected.tab:
        groups = _group(selected.rows_of(tab))
        return _count(groups, tab), _add_up(groups)
    if filters:
        return selected.rows_of(tab).count(), None
    return selected.count_left(tab.condition(()) or EVERYTHING), None


def _group(documents: DocumentQuerySet) -> list[_Group]:
    groups = documents.add_up("status", "type", "currency_code", "minor_unit", size=Count("pk"))
    return [_Group(**{name: group[name] for name in _Group._fields}) for group in groups]


def _count(groups: Iterable[_Group], tab: Tab) -> int:
    return sum(each.size for each in groups if each.is_in(tab))


def _add_up(groups: Iterable[_Group]) -> list[Total]:
    sums: dict[tuple[str, int], int] = {}
    for each in groups:
        key = each.currency_code, each.minor_unit
        sign = -1 if each.type == DocumentType.CREDIT_NOTE else 1
        sums[key] = sums.get(key, 0) + sign * each.amount
    return [Total(*key, amount) for key, amount in sorted(sums.items())]
