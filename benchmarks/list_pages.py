"""Every tab, filter and order of the list of documents on one database, and what each costs."""

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from itertools import product
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count

from benchmarks.list_copies import SEES_MANY
from benchmarks.search_pages import SEES_ALL, SEES_FEW, Statement, explain
from invoicing.document_approvals import MOST_WAITING
from invoicing.document_lists.filters import Author, Filters, Tab
from invoicing.document_lists.orders import Order
from invoicing.document_lists.pages import Sorting, find_sorted
from invoicing.document_lists.selection import Selected
from invoicing.document_lists.summary import summarize
from invoicing.models import Document, DocumentStatus, User

PAGE_LENGTH, ROUNDS = 25, 3


@dataclass(frozen=True)
class Measured:
    """A page with its counts and totals: its rows, its statements, and what they cost."""

    case: str
    rows: int
    statements: int
    milliseconds: float
    touched: int


def describe_database() -> dict[str, Any]:
    """Measure every list in this database."""
    return {
        "documents": Document.objects.count(),
        "pages": [asdict(measure(case, read)) for case, read in _cases()],
    }


def _cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    wanted = os.environ.get("CASES", "")
    for who, email in (("all", SEES_ALL), ("few", SEES_FEW), ("many", SEES_MANY)):
        user = User.objects.get(email=email)
        user.has_perm("")  # reads all permissions, lest the first list does
        filters = _filters_of(user)
        waiting = _find_waiting(user)
        for (what, chosen), tab, order, down in product(filters.items(), Tab, Order, (True, False)):
            if order == Order.WRITTEN and not down:
                continue
            direction = "" if order == Order.WRITTEN else " down" if down else " up"
            case = f"{what}, {tab or 'all'}, by {order or 'newest'}{direction}, sees {who}"
            if wanted in case:
                selected = partial(Selected, user, chosen, tab, waiting)
                yield case, partial(_read, selected, order, down)


def _find_waiting(user: User) -> set[UUID]:
    """Return as many drafts as can wait for one person, from all of five years."""
    drafts = Document.objects.visible_to(user).filter(status=DocumentStatus.DRAFT)
    found = list(drafts.order_by("pk").values_list("pk", flat=True))
    return set(found[:: len(found) // MOST_WAITING + 1])


def _filters_of(user: User) -> dict[str, Filters]:
    """Return filters that leave much and little, and pairs that have little in common."""
    visible = Document.objects.visible_to(user)
    sizes = visible.order_by().values("customer").annotate(count=Count("pk")).order_by("-count")
    largest = sizes.values_list("customer", flat=True)[0]
    newest = Document.objects.filter(connection_id__isnull=False).order_by("-pk")
    person_id = Document.objects.order_by("pk").values_list("created_by", flat=True)[200]
    currency = visible.filter(customer=largest).values_list("currency_code", flat=True)[0]
    return {
        "no filter": Filters(),
        "largest customer": Filters(customer_id=largest),
        "newest agent": Filters(connection_id=newest.values_list("connection_id", flat=True)[0]),
        "any agent": Filters(author=Author.AGENT),
        "one person": Filters(person_id=person_id),
        "one month": Filters(first_day=date(2026, 3, 1), last_day=date(2026, 3, 31)),
        "three years": Filters(first_day=date(2022, 1, 1), last_day=date(2024, 12, 31)),
        "rare currency": Filters(currency_code="CHF"),
        "common currency": Filters(currency_code="EUR"),
        "large amounts": Filters(currency_code="EUR", least=90_000),
        "customer in another currency": Filters(
            customer_id=largest, currency_code="USD" if currency != "USD" else "EUR"
        ),
        "agents before there were any": Filters(
            author=Author.AGENT, first_day=date(2022, 1, 1), last_day=date(2024, 12, 1)
        ),
    }


def _read(select: Callable[[], Selected], order: Order, is_descending: bool) -> int:  # noqa: FBT001  of a partial
    selected = select()
    summarize(selected)
    found, _ = find_sorted(selected, Sorting(order=order, is_descending=is_descending), PAGE_LENGTH)
    return len(found)


def measure(case: str, read: Callable[[], int]) -> Measured:
    """Record the statements of a page, then have PostgreSQL explain what each of them costs."""
    statements: list[Statement] = []

    def note(execute: Any, sql: str, parameters: Any, many: Any, context: Any) -> Any:
        statements.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(note):
        rows = read()
    # The best of some, since neighbours on the machine slow one round or another.
    costs = [min(explain(*each, rounds=1) for _ in range(ROUNDS)) for each in statements]
    milliseconds, touched = (sum(each) for each in zip(*costs, strict=True))
    return Measured(case, rows, len(statements), milliseconds, int(touched))
