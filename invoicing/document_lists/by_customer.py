"""Pages of a long list of documents in the order of their customers' names.

No index has both, so a page finds first the next customers who have any of the documents.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import F, OuterRef, Q, Subquery, TextField, UUIDField
from django.db.models.functions import Lower
from django.db.models.lookups import GreaterThan, LessThan

from invoicing.document_lists.orders import Place, Stretch, compare
from invoicing.document_lists.selection import Selected
from invoicing.models import Customer, Document
from invoicing.search.paging import cut_page

_KEYS = (Lower("name"), F("id"))
_FIELDS = (TextField(), UUIDField())


def walk_customers(
    selected: Selected, stretch: Stretch, place: Place | None, limit: int
) -> tuple[list[Document], UUID | None]:
    """Return up to `limit` documents behind a place of the stretch, and the next cursor."""
    order = stretch.order(follows_index=False)
    found: list[Document] = []
    if place:
        _, customer_id, document_id = place
        beyond = Q(pk__lt=document_id) if stretch.is_descending else Q(pk__gt=document_id)
        rest = selected.rows.filter(beyond, customer=customer_id).select_related("customer")
        found += rest.order_by("-pk" if stretch.is_descending else "pk")[: limit + 1]
    if len(found) <= limit:
        ends = _next_customers(selected, stretch, place, limit)
        rows = selected.rows.filter(_of(ends, is_descending=stretch.is_descending))
        found += rows.select_related("customer").order_by(*order)[: limit + 1 - len(found)]
    return cut_page(found, limit)


def _next_customers(
    selected: Selected, stretch: Stretch, place: Place | None, limit: int
) -> Sequence[tuple[UUID, UUID | None]]:
    """Return the next customers, each with the last of its documents that a page has room for.

    That is None where the customer has fewer.
    """
    customers = Customer.objects.visible_to(selected.user)
    direction = "-pk" if stretch.is_descending else "pk"
    own = selected.rows.filter(customer=OuterRef("pk")).order_by(direction).values("pk")
    # A subquery that is a value is asked of one customer after the other, in their order.
    having = customers.alias(first=Subquery(own[:1])).filter(first__isnull=False)
    if place:
        lookup = LessThan if stretch.is_descending else GreaterThan
        having = having.filter(compare(lookup, _KEYS, place[:2], _FIELDS))
    keys = [key.desc() if stretch.is_descending else key.asc() for key in _KEYS]
    lasts = Subquery(own[limit : limit + 1])
    return list(having.order_by(*keys).values_list("pk", lasts)[: limit + 1])


def _of(customers: Sequence[tuple[UUID, UUID | None]], *, is_descending: bool) -> Q:
    """Return the condition that a document is of one of the customers, up to its last."""
    bound = "pk__gte" if is_descending else "pk__lte"
    condition = Q(customer__in=[pk for pk, last in customers if last is None])
    for pk, last in customers:
        if last is not None:
            condition |= Q(("customer", pk), (bound, last))
    return condition
