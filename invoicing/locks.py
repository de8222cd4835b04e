"""Rows are locked inside a transaction only: approval, document, customer, series, in this order.

What is written into the administration's audit locks its head before all of these.

SQLite has no row locks; there the transaction itself is the lock (transaction_mode IMMEDIATE).
"""

from collections.abc import Collection
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Model, QuerySet

from agent_access.database.rows import Condition, Rows
from invoicing.access import customer_condition
from invoicing.errors import RecordNotFoundError
from invoicing.models import Customer, Document, IssueApproval, User

APPROVALS = Rows(IssueApproval)
DOCUMENTS = Rows(Document)
CUSTOMERS = Rows(Customer)

# Rows that only point to a locked one may be written meanwhile.
_LOCKED = {"postgresql": "FOR NO KEY UPDATE OF record"}
# To lock fully would let a customer have one draft at a time.
_HELD = {"postgresql": "FOR SHARE OF record"}

_Record = TypeVar("_Record", bound=Model)


def joined_transaction() -> transaction.Atomic:
    """Begin a transaction, or be part of the caller's, which then is undone by what fails in here.

    So a call of an agent, which begins one, needs no savepoint in it.
    """
    return transaction.atomic(savepoint=False)


def require_transaction() -> None:
    """Raise RuntimeError outside a transaction, where a lock would end before its work."""
    if not connection.in_atomic_block:
        raise RuntimeError("a row is locked inside a transaction or not at all")


def lock_record(records: QuerySet[_Record], pk: UUID | int) -> _Record:
    """Return the record, locked; raises RecordNotFoundError where the queryset lacks it.

    Rows that only point to it may be written meanwhile.
    """
    require_transaction()
    for record in records.select_for_update(of=("self",), no_key=True).filter(pk=pk):
        return record
    raise RecordNotFoundError


def lock_person(pk: UUID) -> User:
    """Return the person, locked; raises RecordNotFoundError."""
    return lock_record(User.objects.all(), pk)


def lock_customer(pk: UUID) -> Customer:
    """Return the customer, locked; raises RecordNotFoundError."""
    return lock_record(Customer.objects.all(), pk)


def lock_approval(pk: UUID, **wanted: Any) -> IssueApproval:
    """Return the approval with these facts, locked; raises RecordNotFoundError."""
    return _lock(APPROVALS, APPROVALS.equal(id=pk, **wanted))


def lock_document(pk: UUID, *, visible_to: User | None) -> Document:
    """Return the document, locked; raises RecordNotFoundError out of the person's scope.

    With nobody to ask about every document is in it. That has to be said: no caller forgets it.
    """
    wanted, scope = DOCUMENTS.equal(id=pk), customer_condition(visible_to, "record.customer_id")
    try:
        return _lock(DOCUMENTS, wanted, scope)
    except RecordNotFoundError:
        _, own = scope
        if not own:
            raise
    # A statement that had to wait compares another customer with the one from before its wait.
    return _lock(DOCUMENTS, wanted, scope)


def lock_draft(pk: UUID, *, visible_to: User | None) -> Document:
    """Return the document, locked, with its customer held; raises as lock_document does.

    So what is compared with it and what is frozen of it are of one moment.
    """
    document = lock_document(pk, visible_to=visible_to)
    document.customer = hold_customer(document.customer_id, visible_to=visible_to)
    return document


def hold_customer(pk: UUID, *, visible_to: User | None) -> Customer:
    """Hold one as hold_customers does; raises RecordNotFoundError out of the person's scope."""
    for customer in hold_customers([pk], visible_to=visible_to):
        return customer
    raise RecordNotFoundError


def hold_customers(pks: Collection[UUID], *, visible_to: User | None) -> list[Customer]:
    """Return the customers in the person's scope, whom nobody changes before the transaction ends.

    Others may hold them too. So a name that a document is found by, or frozen with, is still the
    customer's at commit, and so are its account managers.
    """
    require_transaction()
    named, scope = CUSTOMERS.among("id", pks), customer_condition(visible_to, "record.id")
    in_order = "ORDER BY record.id"
    held = CUSTOMERS.find(named, scope, suffix=f"{in_order} {_HELD.get(connection.vendor, '')}")
    _, own = scope
    # A statement that had to wait has seen the account managers from before its wait.
    return CUSTOMERS.find(named, scope, suffix=in_order) if own else held


def _lock(rows: Rows[_Record], *conditions: Condition) -> _Record:
    require_transaction()
    for record in rows.find(*conditions, suffix=_LOCKED.get(connection.vendor, "")):
        return record
    raise RecordNotFoundError
