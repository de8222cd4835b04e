"""Every kind of search on one database, and what each costs in it.

What counts is the time of all statements of a page, planning included, and the blocks of memory or
disk that they touch, which no neighbour on the machine disturbs.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import median
from typing import Any

from django.db import connection

from invoicing.models import Customer, Document, DocumentStatus, User
from invoicing.search.paging import PageRequest
from invoicing.search.records import find_customers, find_documents

ROUNDS = 25
SEES_ALL, SEES_FEW = "dana@halden.example", "milo@halden.example"
PAGE = PageRequest(limit=25)
DRAFT = DocumentStatus.DRAFT

Case = tuple[str, Callable[[], Any]]
Statement = tuple[str, Any]
# Milliseconds, and blocks of memory or disk.
Cost = tuple[float, int]


@dataclass(frozen=True)
class Measured:
    """A page of a search: its rows, its statements, and what they cost in the database."""

    case: str
    rows: int
    statements: int
    milliseconds: float
    touched: int


def describe_database() -> dict[str, Any]:
    """Measure every kind of search in this database."""
    pages = [
        asdict(measure_page(f"{what}, {who}", read))
        for who, email in (("sees all", SEES_ALL), ("sees few", SEES_FEW))
        for what, read in cases_of(User.objects.get(email=email))
    ]
    return {
        "documents": Document.objects.count(),
        "customers": Customer.objects.count(),
        "pages": pages,
    }


def cases_of(user: User) -> Iterator[Case]:
    user.has_perm("")  # reads all permissions, lest the first search does
    yield from document_cases(user)
    yield from web_cases(user)
    yield from customer_cases(user)


def document_cases(user: User) -> Iterator[Case]:
    ids = Document.objects.order_by("id")
    own = ids if user.email == SEES_ALL else ids.filter(customer__account_managers=user)
    rare = own.values_list("draft_code", flat=True)[own.count() // 2].removeprefix("D-")
    searches = {
        "no search": PAGE,
        "common word": replace(PAGE, search="inv"),
        "rare word": replace(PAGE, search=rare),
        "absent word": replace(PAGE, search="nowhere"),
        "common before the cursor": replace(PAGE, search="inv", after=last_issued()),
        "common and rare word": replace(PAGE, search=f"inv {rare}"),
        "two common words": replace(PAGE, search="inv 2026"),
        "number with punctuation": replace(PAGE, search="INV-2026-85"),
        "only common parts": replace(PAGE, search="inv-2026"),
        "a letter either way": replace(PAGE, search="büro"),
    }
    for what, page in searches.items():
        yield f"documents.list, {what}", partial(find_documents, user, page)


def last_issued() -> Any:
    """Return the cursor behind all issued documents, and before all drafts."""
    issued = Document.objects.filter(status=DocumentStatus.ISSUED)
    return issued.order_by("-id").values_list("id", flat=True)[0]


def first_draft() -> Any:
    """Return the cursor at which a walk from the newest has passed all drafts."""
    drafts = Document.objects.filter(status=DRAFT).order_by("id")
    return drafts.values_list("id", flat=True)[0]


def web_cases(user: User) -> Iterator[Case]:
    newest = replace(PAGE, newest_first=True)
    older = replace(newest, after=first_draft())
    yield "page of documents", partial(find_documents, user, newest)
    yield "page of drafts", partial(find_documents, user, newest, status=DRAFT)
    yield "page of drafts, none left", partial(find_documents, user, older, status=DRAFT)
    common = replace(newest, search="inv")
    yield "page of documents, common word", partial(find_documents, user, common)
    named = PageRequest(search="harbour", limit=200)
    yield "page of customers, common word", partial(find_customers, user, named, active_only=False)


def customer_cases(user: User) -> Iterator[Case]:
    bros = Customer.objects.filter(name__endswith=" Bros").order_by("-id")
    last_bros = bros.values_list("id", flat=True)[0]
    searches = {
        "common word": replace(PAGE, search="harbour"),
        "rare word": replace(PAGE, search="0000500"),
        "absent word": replace(PAGE, search="nowhere"),
        "common before the cursor": replace(PAGE, search="bros", after=last_bros),
    }
    for what, page in searches.items():
        yield f"customers.search, {what}", partial(find_customers, user, page)


def measure_page(case: str, read: Callable[[], Any]) -> Measured:
    """Record the statements of a page, then have PostgreSQL explain what each of them costs."""
    statements: list[Statement] = []

    def note(execute: Any, sql: str, parameters: Any, many: Any, context: Any) -> Any:
        statements.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(note):
        found, _ = read()
    costs = [explain(*statement) for statement in statements]
    milliseconds, touched = (sum(each) for each in zip(*costs, strict=True))
    return Measured(case, len(found), len(statements), milliseconds, int(touched))


def explain(sql: str, parameters: Any, *, rounds: int = ROUNDS) -> Cost:
    """Return the median time of planning and execution by PostgreSQL, and the blocks touched."""
    spent, touched = [], 0
    with connection.cursor() as cursor:
        for _ in range(rounds):
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {sql}", parameters)
            [told] = cursor.fetchone()[0]
            spent.append(told["Planning Time"] + told["Execution Time"])
            touched = told["Plan"]["Shared Hit Blocks"] + told["Plan"]["Shared Read Blocks"]
    return median(spent), touched
