"""Pages of a long list of documents in the order of their customers' names.

No index has both, so a page goes from customer to customer: by some thousand customers at most,
most of whom may have no documents, and by some thousand documents of those who have.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import (
    Case,
    F,
    OuterRef,
    Q,
    Subquery,
    TextField,
    UUIDField,
    When,
    prefetch_related_objects,
)
from django.db.models.functions import Lower
from django.db.models.lookups import (
    GreaterThan,
    GreaterThanOrEqual,
    LessThan,
    LessThanOrEqual,
)

from invoicing.document_lists.orders import Place, Stretch, compare
from invoicing.document_lists.selection import Selected
from invoicing.models import Customer, Document
from invoicing.models.customers import CustomerQuerySet
from invoicing.search.paging import cut_page

CUSTOMERS_PER_STEP = 5_000
CUSTOMERS_IN_REACH = 2_000
DOCUMENTS_PER_STEP = 5_000
# Of each of the customers of one page, of which the first that has more ends the step.
DOCUMENTS_EACH = 100

_KEYS = (Lower("name"), F("id"))
_FIELDS = (TextField(), UUIDField())

Found = tuple[list[Document], UUID | None]


def find_customer(selected: Selected, pk: UUID) -> Place | None:
    """Return the place behind all documents of a customer whom the user sees."""
    own = Customer.objects.visible_to(selected.user).filter(pk=pk)
    place: Place | None = own.values_list(*_KEYS).first()
    return place


def walk_customers(selected: Selected, stretch: Stretch, place: Place | None, limit: int) -> Found:
    """Return up to `limit` documents behind a place of the stretch, and the next cursor.

    The cursor is the ID of a document or of a customer that the user sees.
    """
    found: list[Document] = []
    if place and len(place) == len(stretch.columns):
        found, cursor = _walk_one(selected, stretch, place, limit)
        if cursor:
            return found, cursor
    customers, cursor = _next_customers(selected, stretch, place, limit)
    direction = "-pk" if stretch.is_descending else "pk"
    # By their places, not their names, for which all customers would be read.
    places = [When(customer=pk, then=n) for n, (pk, _) in enumerate(customers)]
    if places:
        rows = selected.rows.filter(_of(customers, is_descending=stretch.is_descending))
        found += rows.order_by(Case(*places), direction)[: limit + 1 - len(found)]
    prefetch_related_objects(found, "customer")
    return cut_page(found, limit) if len(found) > limit else (found, cursor)


def _walk_one(selected: Selected, stretch: Stretch, place: Place, limit: int) -> Found:
    """Return what else the customer of a place has, and a cursor if that is not all."""
    _, customer_id, document_id = place
    behind, up_to, direction = (
        ("pk__lt", "pk__gte", "-pk") if stretch.is_descending else ("pk__gt", "pk__lte", "pk")
    )
    rest = Q(("customer", customer_id), (behind, document_id))
    ids = selected.visible.filter(rest).order_by(direction).values_list("pk", flat=True)
    end = ids[DOCUMENTS_PER_STEP - 1 : DOCUMENTS_PER_STEP].first()
    rows = selected.rows.filter(rest, Q((up_to, end)) if end else Q())
    shown, cursor = cut_page(rows.order_by(direction)[: limit + 1], limit)
    prefetch_related_objects(shown, "customer")
    return shown, cursor or end


def _next_customers(
    selected: Selected, stretch: Stretch, place: Place | None, limit: int
) -> tuple[Sequence[tuple[UUID, UUID | None]], UUID | None]:
    """Return the next customers with documents, each with the last of them that is in the step.

    That is None for the last one of all. Second is the cursor behind them, if there are more.
    """
    keys = [key.desc() if stretch.is_descending else key.asc() for key in _KEYS]
    customers, end = _step_of_customers(selected, stretch, place, keys)
    direction = "-pk" if stretch.is_descending else "pk"
    own = Document.objects.filter(customer=OuterRef("pk")).order_by(direction).values("pk")
    # A subquery that is a value is asked of one customer after the other, in their order.
    having = customers.alias(first=Subquery(own[:1])).filter(first__isnull=False)
    last = Subquery(own[DOCUMENTS_EACH - 1 : DOCUMENTS_EACH])
    found: list[Any] = list(having.order_by(*keys).values_list("pk", last)[: limit + 1])
    for number, (_, last_document) in enumerate(found, start=1):
        if last_document is not None:
            return found[:number], last_document
    return found, found[-1][0] if len(found) > limit else end


def _step_of_customers(
    selected: Selected, stretch: Stretch, place: Place | None, keys: list[Any]
) -> tuple[CustomerQuerySet, UUID | None]:
    """Return the customers of the next step, and the last of them if there may be more."""
    ahead = Customer.objects.visible_to(selected.user)
    if place:
        behind = LessThan if stretch.is_descending else GreaterThan
        ahead = ahead.filter(compare(behind, _KEYS, place[:2], _FIELDS))
    if not selected.sees_all:
        # By their IDs: else each customer of others in between is asked for its documents as well.
        ids = list(ahead.order_by(*keys).values_list("pk", flat=True)[:CUSTOMERS_IN_REACH])
        is_last = len(ids) < CUSTOMERS_IN_REACH
        return Customer.objects.filter(pk__in=ids), None if is_last else ids[-1]
    last = slice(CUSTOMERS_PER_STEP - 1, CUSTOMERS_PER_STEP)
    end: Any = ahead.order_by(*keys).values_list(*_KEYS)[last].first()
    if end is None:
        return ahead, None
    up_to = GreaterThanOrEqual if stretch.is_descending else LessThanOrEqual
    return ahead.filter(compare(up_to, _KEYS, end, _FIELDS)), end[1]


def _of(customers: Sequence[tuple[UUID, UUID | None]], *, is_descending: bool) -> Q:
    """Return the condition that a document is of one of the customers, up to its last."""
    bound = "pk__gte" if is_descending else "pk__lte"
    condition = Q(customer__in=[pk for pk, last in customers if last is None])
    for pk, last in customers:
        if last is not None:
            condition |= Q(("customer", pk), (bound, last))
    return condition
