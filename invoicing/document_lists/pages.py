"""Pages of a list of documents, none of which costs more because there are more documents.

A list that is short is sorted. Through a long one a page walks by the index of its order, some
thousand documents at most: it may be short, or even empty, and still have a cursor.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from invoicing.document_lists.by_customer import find_customer, walk_customers
from invoicing.document_lists.filters import Tab
from invoicing.document_lists.orders import NAME, Order, Place, Stretch, stretches_of
from invoicing.document_lists.planning import plan_each_time
from invoicing.document_lists.selection import Selected
from invoicing.models import Document, DocumentStatus
from invoicing.search.paging import PageRequest, cut_page
from invoicing.search.records import find_documents

# How many documents a page walks by. Those in a person's reach lie among many others.
STEP = 4_000
STEP_IN_REACH = 1_000

Found = tuple[list[Document], UUID | None]

_STATUSES = {Tab.DRAFTS: DocumentStatus.DRAFT, Tab.ISSUED: DocumentStatus.ISSUED}


@dataclass(frozen=True, kw_only=True)
class Sorting:
    """The order of a list, and the document behind which its page begins, or None."""

    order: Order = Order.WRITTEN
    is_descending: bool = True
    after: UUID | None = None


def find_by_words(selected: Selected, page: PageRequest) -> Found:
    """Return a page of a search in the list, or of all of it, the newest document first."""
    status, only = _STATUSES.get(selected.tab), selected.filters.condition()
    if status is None:
        only &= selected.condition_of(selected.tab)
    return find_documents(selected.user, page, status=status, only=only)


@plan_each_time()
def find_sorted(selected: Selected, sorting: Sorting, limit: int) -> Found:
    """Return up to `limit` documents in this order, and the cursor of the next page or None."""
    if _follows_words(selected, sorting):
        page = PageRequest(after=sorting.after, limit=limit, newest_first=True)
        return find_by_words(selected, page)
    stretches = stretches_of(sorting.order, is_descending=sorting.is_descending)
    ahead = list(_begin(selected, stretches, sorting.after))
    if sorting.order == Order.WRITTEN:  # by the index of the tab, which has nothing else
        condition = selected.condition_of(selected.tab)
        ahead = [(replace(stretch, condition=condition), place) for stretch, place in ahead]
    if selected.is_tab_short:
        return _sort(selected, ahead, limit)
    if sorting.order == Order.CUSTOMER:
        [(stretch, place)] = ahead
        return walk_customers(selected, stretch, place, limit)
    lacked = _STATUSES.get(selected.tab)
    ahead = [each for each in ahead if lacked is None or each[0].lacks != lacked]
    return _walk(selected, ahead, limit)


def _follows_words(selected: Selected, sorting: Sorting) -> bool:
    """Return whether the word table leads through it: by the customers in a person's reach."""
    is_newest_first = sorting.order == Order.WRITTEN and sorting.is_descending
    has_label = selected.tab in {Tab.ALL, *_STATUSES} and not selected.filters.conditions()
    return is_newest_first and has_label and not selected.is_tab_short


def _begin(
    selected: Selected, stretches: list[Stretch], after: UUID | None
) -> Iterator[tuple[Stretch, Place | None]]:
    """Yield the stretches that are not over at the cursor, the first with the place of it.

    The list begins anew at a cursor that names nothing, or nothing that the user sees.
    """
    for index, stretch in enumerate(stretches):
        place = _find_place(selected, stretch, after) if after else None
        if place:
            yield stretch, place
            yield from ((each, None) for each in stretches[index + 1 :])
            return
    yield from ((each, None) for each in stretches)


def _find_place(selected: Selected, stretch: Stretch, after: UUID) -> Place | None:
    """Return the place of a document; or of a customer, where these have one."""
    here = selected.visible.filter(stretch.condition, pk=after)
    place: Place | None = here.values_list(*stretch.places()).first()
    return place or (find_customer(selected, after) if NAME in stretch.columns else None)


def _sort(selected: Selected, ahead: list[tuple[Stretch, Place | None]], limit: int) -> Found:
    found: list[UUID] = []
    for stretch, place in ahead:
        rows = selected.rows.filter(stretch.condition)
        if place:
            rows = rows.filter(stretch.behind(place))
        ordered = rows.order_by(*stretch.order(follows_index=False)).values_list("pk", flat=True)
        found += ordered[: limit + 1 - len(found)]
        if len(found) > limit:
            break
    # Only those of the page are read as a whole.
    documents = selected.rows.select_related("customer").in_bulk(found)
    return cut_page([documents[pk] for pk in found if pk in documents], limit)


def _walk(selected: Selected, ahead: list[tuple[Stretch, Place | None]], limit: int) -> Found:
    found: list[Document] = []
    for stretch, place in ahead:
        end = _end_of_step(selected, stretch, place)
        rows = selected.rows.filter(*_within(stretch, place, end)).select_related("customer")
        found += rows.order_by(*stretch.order(follows_index=True))[: limit + 1 - len(found)]
        if len(found) > limit:
            break
        if end:
            return found, end[-1]
    return cut_page(found, limit)


def _within(stretch: Stretch, place: Place | None, end: Place | None) -> list[Any]:
    """Return the conditions that a document of the stretch is behind one place, up to another."""
    conditions: list[Any] = [stretch.condition]
    if place:
        conditions.append(stretch.behind(place))
    if end:
        conditions.append(stretch.up_to(end))
    return conditions


def _end_of_step(selected: Selected, stretch: Stretch, place: Place | None) -> Place | None:
    """Return the place of the last document of the next step; None if the list ends before.

    Steps are counted in what the user sees: the length of a page, and its cursor, tell of nothing
    else.
    """
    if not selected.is_narrowed:
        return None
    rows = selected.visible.filter(*_within(stretch, place, None))
    ordered = rows.order_by(*stretch.order(follows_index=True))
    last = (STEP if selected.sees_all else STEP_IN_REACH) - 1
    end: Place | None = ordered.values_list(*stretch.places())[last : last + 1].first()
    return end
