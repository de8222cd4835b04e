"""A tour of the pages: each of them by a name, with what it shows, for who sees it."""

from collections.abc import Callable
from dataclasses import dataclass

from invoicing.models import Customer, Document, User


@dataclass(frozen=True)
class Sights:
    """The people and records that the pages of the tour are about."""

    owner: User
    delegate: User
    customer: Customer
    draft: Document
    waiting: Document
    issued: Document
    approval_id: str
    connection_id: str
    event_id: str


# The address of a page; the owner sees the administration, the delegate all others.
OF_PEOPLE: dict[str, Callable[[Sights], str]] = {
    "home": lambda _: "/",
    "list": lambda _: "/documents",
    "list-waiting": lambda _: "/documents?status=waiting",
    "document": lambda sights: f"/documents/{sights.issued.id}",
    "draft": lambda sights: f"/documents/{sights.draft.id}",
    "draft-form": lambda sights: f"/documents/{sights.draft.id}/edit",
    "draft-form-new": lambda _: "/documents/new",
    "correction": lambda sights: f"/documents/{sights.issued.id}/correct",
    "inbox": lambda _: "/approvals",
    "review": lambda sights: f"/approvals/{sights.approval_id}",
    "customers": lambda _: "/customers",
    "customer": lambda sights: f"/customers/{sights.customer.id}",
    "customer-new": lambda _: "/customers/new",
    "customer-edit": lambda sights: f"/customers/{sights.customer.id}/edit",
    "customers-import": lambda _: "/customers/import",
    "people": lambda _: "/people",
    "person": lambda sights: f"/people/{sights.owner.id}",
    "exports": lambda _: "/exports",
    "activity": lambda _: "/agents/activity",
    "preferences": lambda _: "/account/preferences",
    "account": lambda _: "/account",
}
OF_THE_OWNER: dict[str, Callable[[Sights], str]] = {
    "owner-home": lambda _: "/",
    "setup": lambda _: "/setup",
    "setup-taxes": lambda _: "/setup/taxes",
    "setup-connect": lambda _: "/setup/connect",
    "owner-activity": lambda _: "/agents/activity",
    "evidence": lambda _: "/evidence",
    "admin": lambda _: "/admin/",
    "admin-connections": lambda _: "/admin/agent_access/connection/",
    "admin-connection": lambda s: f"/admin/agent_access/connection/{s.connection_id}/",
    "admin-connection-new": lambda _: "/admin/agent_access/connection/add/",
    "admin-events": lambda _: "/admin/agent_access/auditevent/",
    "admin-event": lambda s: f"/admin/agent_access/auditevent/{s.event_id}/",
    "admin-receipts": lambda _: "/admin/agent_access/receipt/",
    "admin-people": lambda _: "/admin/invoices/user/",
    "admin-person": lambda s: f"/admin/invoices/user/{s.delegate.id}/change/",
    "admin-customers": lambda _: "/admin/invoices/customer/",
    "admin-rates": lambda _: "/admin/invoices/taxrate/",
}
OF_NOBODY = {"sign-in": lambda _: "/sign-in", "not-found": lambda _: "/nothing-here"}
