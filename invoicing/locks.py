"""Rows are locked inside a transaction only: approval, document, customer, series, in this order.

SQLite has no row locks; there the transaction itself is the lock (transaction_mode IMMEDIATE).
"""

from typing import TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Model, QuerySet

from invoicing.errors import RecordNotFoundError
from invoicing.models import Customer, Document, IssueApproval, User

_Record = TypeVar("_Record", bound=Model)


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


def lock_approval(approvals: QuerySet[IssueApproval], pk: UUID) -> IssueApproval:
    """Return the approval, locked; raises RecordNotFoundError where the queryset lacks it."""
    return lock_record(approvals, pk)


def lock_document(documents: QuerySet[Document], pk: UUID) -> Document:
    """Return the document, locked; raises RecordNotFoundError where the queryset lacks it."""
    return lock_record(documents, pk)


def lock_draft(documents: QuerySet[Document], pk: UUID) -> Document:
    """Return the document, locked, with its customer held; raises as lock_document does.

    So what is compared with it and what is frozen of it are of one moment.
    """
    document = lock_document(documents, pk)
    [document.customer] = hold_customers(Customer.objects.filter(pk=document.customer_id))
    return document


def lock_customer(pk: UUID) -> Customer:
    """Return the customer, locked; raises RecordNotFoundError."""
    return lock_record(Customer.objects.all(), pk)


def hold_customers(customers: QuerySet[Customer]) -> list[Customer]:
    """Return the customers, which nobody changes before the transaction ends; others may hold too.

    So a name that a document is found by, or frozen with, is still the customer's at commit.
    """
    require_transaction()
    sql, parameters = customers.order_by("id").query.sql_with_params()
    # The ORM knows no shared lock. To lock fully would let a customer have one draft at a time.
    shared = " FOR SHARE OF invoices_customer" if connection.vendor == "postgresql" else ""
    return list(Customer.objects.raw(sql + shared, parameters))
