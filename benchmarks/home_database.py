"""Home and the page of a customer, in one large database: how it is filled, and what they cost."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.goals import MISSED

MOST_MILLISECONDS = 50
PEOPLE = {
    "dana@halden.example": "a bookkeeper, who sees all customers",
    "milo@halden.example": "an account manager, who sees some",
    "olivia@halden.example": "the owner",
}


def fill_database(documents: int) -> None:
    """Copy the sample company's documents, without words to search by, until there are so many."""
    # Models can be read from here on only.
    from django.db import connection, transaction  # noqa: PLC0415  see above

    from benchmarks.search_copies import copy_documents  # noqa: PLC0415  see above
    from invoicing.models import DocumentType  # noqa: PLC0415  see above
    from invoicing.services.issued_totals import keep_totals  # noqa: PLC0415  see above

    copy_documents(documents)
    with transaction.atomic():
        keep_totals(DocumentType.INVOICE)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def describe_database() -> list[str]:
    """Return a line of what home, and the page of one customer, cost each person."""
    from invoicing.models import Customer, Document, User  # noqa: PLC0415  see above
    from invoicing.web.customer_page import show_customer  # noqa: PLC0415  see above
    from invoicing.web.home.page import show_home  # noqa: PLC0415  see above

    lines = [f"{Document.objects.count():,} documents"]
    for email, who in PEOPLE.items():
        user = User.objects.get(email=email)
        lines.append(report(f"home, {who}", measure_page(user, show_home)))
        customer = Customer.objects.visible_to(user).order_by("-id").first()
        if customer and user.has_perm("invoices.view_customer"):
            costs = measure_page(user, partial(show_customer, pk=customer.pk))
            lines.append(report(f"a customer, {who}", costs))
    return lines


def report(what: str, costs: list[tuple[float, str]]) -> str:
    """Return what a page costs, and its slowest statement."""
    total = sum(milliseconds for milliseconds, _ in costs)
    slowest, sql = max(costs)
    verdict = "within" if total <= MOST_MILLISECONDS else f"{MISSED}above"
    return (
        f"{what}: {len(costs)} statements, {total:.1f} ms,"
        f" {verdict} {MOST_MILLISECONDS} ms; the slowest {slowest:.1f} ms: {sql[:150]}"
    )


def measure_page(user: Any, show: Callable[[Any], Any]) -> list[tuple[float, str]]:
    """Return the median milliseconds of each statement of the page that `show` answers."""
    from django.conf import settings  # noqa: PLC0415  see above
    from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY  # noqa: PLC0415  see above
    from django.db import connection  # noqa: PLC0415  see above
    from django.test import RequestFactory  # noqa: PLC0415  see above

    from benchmarks.search_pages import Statement, explain  # noqa: PLC0415  see above

    statements: list[Statement] = []

    def note(execute: Any, sql: str, parameters: Any, many: Any, context: Any) -> Any:
        statements.append((sql, parameters))
        return execute(sql, parameters, many, context)

    request = RequestFactory().get("/")
    request.user = user
    request.session = import_module(settings.SESSION_ENGINE).SessionStore()
    request.session[SESSION_KEY] = str(user.pk)
    request.session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    with connection.execute_wrapper(note):
        show(request)
    return [(explain(*each)[0], each[0]) for each in statements if each[0].startswith("SELECT")]
