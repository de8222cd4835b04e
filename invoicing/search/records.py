"""Finds documents and customers by their words, as quickly among a million as among a thousand.

The word table proposes, the record decides (ADR 14): each record on a page has been read in the
user's scope and compared with the search, so that an outdated row of the table shows nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

from invoicing.access import Permission
from invoicing.models import Customer, Document, DocumentStatus, User
from invoicing.search.paging import PageRequest, cut_page, in_order
from invoicing.search.table import (
    AnyOf,
    Kind,
    Step,
    Walk,
    count_rows,
    label_of,
    take_steps,
    word_of,
)
from invoicing.search.texts import texts_of_customer, texts_of_document
from invoicing.search.words import matches, required_prefixes, sought_in

# The most rows of the table that one call walks, in batches that grow while little is found. The
# first is a little more than two pages of 25, which is enough where most rows match all words.
STEPS_PER_CALL = 4000
_STEPS_AT_ONCE = (60, 940, 3000)
# The walk follows the rarest word: to count further than this would cost more than it saves, so of
# those that more records have it is the one whose records lie farthest apart.
_COUNTED = 400
_RECORDS_AT_ONCE = 500

# The walk uses only so many words of a search; the record is compared with all of them.
_WORDS_WALKED = 8

_Record = TypeVar("_Record", bound=Model)


def find_documents(
    user: User,
    page: PageRequest,
    *,
    status: DocumentStatus | None = None,
    connection_id: UUID | None = None,
    only: Q | None = None,
) -> tuple[list[Document], UUID | None]:
    """Return up to `limit` documents that the user sees, in order of ID, and the next cursor.

    `status` and `connection_id` narrow it to one status, and to what one connection made, `only` to
    what a condition holds for, which takes no index and may leave very little. One call
    walks a bounded number of rows, so that a page with a cursor may be short, or even empty. The
    cursor is the ID of a document that the user sees, or None on the last page.
    """
    visible = Document.objects.visible_to(user).select_related("customer")
    managed = _managed_customer_ids(user)
    asked = {"status": status, "connection_id": connection_id}
    wanted = visible.filter(only or Q(), **{name: value for name, value in asked.items() if value})
    # The few documents of one connection have an index of their own.
    is_short = connection_id is not None or (status is None and managed is None and not only)
    if is_short and not page.search.strip():
        return cut_page(in_order(wanted, page)[: page.limit + 1], page.limit)
    return _find(
        _Search(
            visible, wanted, managed, Kind.DOCUMENT, texts_of_document, page, label=status or ""
        )
    )


def find_issued(page: PageRequest, **asked: Any) -> tuple[list[Document], UUID | None]:
    """Return issued documents, and the cursor, like find_documents(), but of all customers.

    `asked` narrows it by lookups of columns. Only for who may read the evidence of all.
    """
    issued = Document.objects.filter(status=DocumentStatus.ISSUED)
    wanted = issued.select_related("customer").filter(**asked)
    # The documents of one series have an index of their own.
    if "series" in asked and not page.search.strip():
        return cut_page(in_order(wanted, page)[: page.limit + 1], page.limit)
    label = DocumentStatus.ISSUED.value
    return _find(_Search(issued, wanted, None, Kind.DOCUMENT, texts_of_document, page, label=label))


def find_customers(
    user: User, page: PageRequest, *, active_only: bool = True
) -> tuple[list[Customer], UUID | None]:
    """Return up to `limit` customers that the user sees, and the cursor, like find_documents()."""
    visible = Customer.objects.visible_to(user)
    if active_only:
        visible = visible.filter(is_active=True)
    if not page.search.strip():
        return cut_page(in_order(visible, page)[: page.limit + 1], page.limit)
    managed = _managed_customer_ids(user)
    return _find(_Search(visible, visible, managed, Kind.CUSTOMER, texts_of_customer, page))


def _managed_customer_ids(user: User) -> list[UUID] | None:
    """Return the IDs of the customers that the user manages, or None if they may see all."""
    if user.has_perm(Permission.VIEW_ALL_CUSTOMERS):
        return None
    return list(Customer.objects.visible_to(user).order_by("pk").values_list("pk", flat=True))


@dataclass(frozen=True)
class _Search(Generic[_Record]):
    """A search in one kind of record.

    `visible` are the records that the user sees, `wanted` those of them that the search is for.
    `managed` are the customers that the user manages, or None for all customers. Where there is a
    `label`, all wanted records have it in the word table.
    """

    visible: QuerySet[_Record]
    wanted: QuerySet[_Record]
    managed: Sequence[UUID] | None
    kind: Kind
    texts: Callable[[_Record], Iterable[str]]
    page: PageRequest
    label: str = ""

    def read(self, steps: Sequence[Step]) -> Iterator[_Record]:
        """Yield the matching records of the steps, reading first only as many as a page needs."""
        sought = sought_in(self.page.search)
        rest = [step.record for step in steps if step.has_all]
        size = self.page.limit + 1
        while rest:
            batch, rest, size = rest[:size], rest[size:], _RECORDS_AT_ONCE
            records = self.wanted.in_bulk(batch)
            found = [records[pk] for pk in batch if pk in records]
            yield from (each for each in found if not sought or matches(sought, self.texts(each)))

    def last_visible(self, steps: Sequence[Step]) -> UUID | None:
        """Return the last record of the steps that the user sees, for the cursor."""
        rest = [step.record for step in steps]
        while rest:
            rest, batch = rest[:-_RECORDS_AT_ONCE], rest[-_RECORDS_AT_ONCE:]
            seen = set(self.visible.filter(pk__in=batch).values_list("pk", flat=True))
            if seen:
                return next(pk for pk in reversed(batch) if pk in seen)
        return None


def _find(search: _Search[_Record]) -> tuple[list[_Record], UUID | None]:
    found: list[_Record] = []
    page = search.page
    walk = _plan(search)
    if walk is None:
        return found, None
    after, taken = page.after, 0
    for batch in _batch_sizes(walk, page.limit):
        steps = take_steps(walk, after=after, steps=batch)
        for record in search.read(steps):
            found.append(record)
            if len(found) > page.limit:
                return cut_page(found, page.limit)
        if len(steps) < batch:
            break
        after, taken = steps[-1].record, taken + batch
        # A cursor must not name a hidden record: if the user sees none of these, walk on.
        if taken >= STEPS_PER_CALL and (cursor := search.last_visible(steps)):
            return found, cursor
    return found, None


def _plan(search: _Search[_Record]) -> Walk | None:
    """Return the walk by the rarest word, or None if no record can match."""
    page = search.page
    prefixes = required_prefixes(sought_in(page.search))
    if search.managed == [] or (page.search.strip() and not prefixes):
        return None
    longest = sorted(map(sorted, prefixes), key=lambda any_of: (-min(map(len, any_of)), any_of))
    words = [tuple(word_of(search.kind, each) for each in any_of) for any_of in longest]
    words = words[:_WORDS_WALKED]
    if search.label or not words:
        words.append((label_of(search.kind, search.label),))
    walk = Walk(
        words=words[0],
        other_words=words[1:],
        customers=search.managed,
        newest_first=page.newest_first,
    )
    return _walk_by_the_rarest(walk, page) if walk.other_words else walk


def _walk_by_the_rarest(walk: Walk, page: PageRequest) -> Walk | None:
    words = [walk.words, *walk.other_words]
    each = list(dict.fromkeys(chain.from_iterable(words)))
    counts = count_rows(each, after=page.after, newest_first=page.newest_first, most=_COUNTED)

    def rank(any_of: AnyOf) -> tuple[int, int]:
        """Return the count; then, of what very many have, how near they follow each other."""
        rows, reached = zip(*(counts[word] for word in any_of), strict=True)
        places = [int.from_bytes(place) for place in reached]
        return min(sum(rows), _COUNTED), max(places) if page.newest_first else -min(places)

    first, *others = sorted(words, key=rank)
    # Only those who see all customers are spared a walk that finds nothing: the counts are of all
    # records, so the time saved would tell others what hidden records say.
    if walk.customers is None and not any(counts[word].rows for word in first):
        return None
    return replace(walk, words=first, other_words=others)


def _batch_sizes(walk: Walk, limit: int) -> Iterator[int]:
    """Return how many steps to take at a time; with only one word, every step is a match."""
    first, *later = _STEPS_AT_ONCE
    return chain([first if walk.other_words else limit + 1], later, repeat(later[-1]))
