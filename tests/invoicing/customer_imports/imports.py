"""Files of customers, and what becomes of them."""

from collections.abc import Generator, Sequence
from typing import Any

from agent_access.audit import Actor
from invoicing.administration.customer_imports import Progress, import_customers
from invoicing.customer_imports.planning import Outcome, Plan
from invoicing.customer_imports.waiting import keep_file, plan_import
from invoicing.models import Customer, User
from invoicing.visits import web_origin


def upload(user: User, *lines: str) -> Any:
    return keep_file(user, name="customers.csv", content="\n".join(lines).encode())


def plan_of(user: User, *lines: str) -> Plan:
    return plan_import(user, upload(user, *lines))


def start(user: User, kept: Any) -> Generator[Progress]:
    """Begin the import of what its preview shows as of now."""
    actor = Actor(web_origin(), user.pk, user.session_revision)
    return import_customers(actor, kept.pk, seen=plan_import(user, kept).digest())


def run(user: User, *lines: str) -> list[Progress]:
    return list(start(user, upload(user, *lines)))


def told(plan: Plan) -> list[tuple[int, str, Any]]:
    """Return of each row its line, its outcome, and its problems, or else its changes."""
    return [(row.line, row.outcome.value, row.problems or row.changes) for row in plan.rows]


def problems_of(plan: Plan) -> list[tuple[int, Sequence[str]]]:
    return [(row.line, row.problems) for row in plan.having(Outcome.BAD)]


def customers() -> list[tuple[Any, ...]]:
    names = ("customer_number", "name", "postcode", "city", "country", "vat_number")
    return sorted(Customer.objects.values_list(*names))
