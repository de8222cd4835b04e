"""Pages of records in lists, with their search and the links to other pages."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest, QueryDict

from invoicing.identifiers import read_uuid
from invoicing.search.paging import SEARCH_LENGTH, PageRequest, cut_page
from invoicing.search.words import matches, sought_in

PAGE_LENGTH = 25

_Record = TypeVar("_Record", bound=Model)

Found = tuple[list[_Record], UUID | None]


@dataclass(frozen=True)
class Listing(Generic[_Record]):
    """One page of records; `back_href` and `next_href` are None if there is no such page."""

    records: list[_Record]
    search: str
    back_href: str | None
    next_href: str | None


def read_search(data: QueryDict, name: str = "search") -> str:
    return data.get(name, "")[:SEARCH_LENGTH].strip()


def list_newest(
    request: HttpRequest, find: Callable[[PageRequest], Found[_Record]], **filters: str
) -> Listing[_Record]:
    """Return the page after the request's `after`, the newest record first."""
    search, after = read_search(request.GET), read_uuid(request.GET.get("after", ""))
    kept = {"search": search, **filters}
    records, cursor = find(
        PageRequest(search=search, after=after, limit=PAGE_LENGTH, newest_first=True)
    )
    next_href = build_query(**kept, after=str(cursor)) if cursor else None
    return Listing(records, search, build_query(**kept) if after else None, next_href)


def list_matching(
    request: HttpRequest,
    queryset: QuerySet[_Record],
    *,
    texts: Callable[[_Record], Iterable[str]],
    **filters: str,
) -> Listing[_Record]:
    """Return the requested page of matching records, by name; for kinds with few records."""
    search, ordered = read_search(request.GET), queryset.order_by(Lower("name"), "id")
    sought = sought_in(search)
    found: Any = [each for each in ordered if matches(sought, texts(each))] if search else ordered
    return list_numbered(request, found, **filters)


def list_numbered(
    request: HttpRequest, records: Sequence[_Record], **filters: str
) -> Listing[_Record]:
    """Return the page of these records with the number in the request's `page`."""
    search = read_search(request.GET)
    kept = {"search": search, **filters}
    shown = Paginator(records, PAGE_LENGTH).get_page(request.GET.get("page"))
    back = build_query(**kept, page=str(shown.number - 1)) if shown.has_previous() else None
    forward = build_query(**kept, page=str(shown.number + 1)) if shown.has_next() else None
    return Listing(list(shown), search, back, forward)


def list_by_name(
    request: HttpRequest, queryset: QuerySet[_Record], **filters: str
) -> Listing[_Record]:
    """Return the page after the record in the request's `after`, ordered by name.

    It counts nothing and has no offset, so the last page costs no more than the first.
    """
    after = read_uuid(request.GET.get("after", ""))
    ordered = queryset.alias(lower_name=Lower("name")).order_by("lower_name", "id")
    last = queryset.filter(pk=after).values_list(Lower("name"), flat=True).first()
    if last is not None:
        behind = Q(lower_name__gt=last) | Q(id__gt=after)
        ordered = ordered.filter(behind, lower_name__gte=last)
    shown, cursor = cut_page(ordered[: PAGE_LENGTH + 1], PAGE_LENGTH)
    next_href = build_query(**filters, after=str(cursor)) if cursor else None
    back_href = build_query(**filters) if last is not None else None
    return Listing(shown, "", back_href, next_href)


def build_query(**parameters: str) -> str:
    """Return a relative link to the same page with these parameters, without the empty ones."""
    return "?" + urlencode({name: value for name, value in parameters.items() if value})
