"""Row locks, only inside a transaction and in one order: approval, document, customer, series.

The settings and the heads of audit chains come after these, so that whoever stops agents does not
wait for work on documents. People and other records come last, in acts of administration.
SQLite has no row locks; there the transaction itself is the lock (transaction_mode IMMEDIATE).
"""

from collections.abc import Collection
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Model, QuerySet

from agent_access.database.rows import Condition
from invoicing.access import customer_condition
from invoicing.errors import RecordNotFoundError
from invoicing.models import Customer, Document, IssueApproval, User
from invoicing.rows import APPROVALS, CUSTOMERS, DOCUMENTS

# Exclusive; rows that refer to the locked one can still be written.
_LOCKED = "FOR NO KEY UPDATE OF record"
# Shared; an exclusive lock would let only one draft of a customer be written at a time.
_HELD = "FOR SHARE OF record"
# PostgreSQL locks in the order in which these are named.
_LOCKED_WITH_DOCUMENT = "FOR NO KEY UPDATE OF record, document FOR SHARE OF customer"
_APPROVAL = """
    SELECT {approval_columns}, {document_columns}, {customer_columns}
    FROM {approvals} AS record
    JOIN {documents} AS document ON document.id = record.document_id
    JOIN {customers} AS customer ON customer.id = document.customer_id
    WHERE {named} {locks}
"""

_Record = TypeVar("_Record", bound=Model)


def joined_transaction() -> transaction.Atomic:
    """Begin a transaction, or join the caller's without a savepoint.

    An error in here then rolls back all that the caller did, too. An agent's call has begun a
    transaction already; this spares it the two statements of a savepoint.
    """
    return transaction.atomic(savepoint=False)


def require_transaction() -> None:
    """Raise RuntimeError outside a transaction, where a lock would be released at once."""
    if not connection.in_atomic_block:
        raise RuntimeError("a row is locked inside a transaction or not at all")


def lock_record(records: QuerySet[_Record], pk: UUID | int) -> _Record:
    """Return the record, locked exclusively; raises RecordNotFoundError if the queryset lacks it.

    Rows that refer to it can still be written.
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


def lock_approval(pk: UUID, *, visible_to: User | None, **wanted: Any) -> IssueApproval:
    """Return the approval that has these column values and its document, locked as by lock_draft.

    Raises RecordNotFoundError if there is none, or if the person cannot see the document.
    """
    named = APPROVALS.equal(id=pk, **wanted)
    # If the statement waited for a lock and the document got another customer meanwhile,
    # PostgreSQL found none to join. Ask again.
    approval = _lock_with_document(named) or _lock_with_document(named)
    if approval is None:
        raise RecordNotFoundError
    scope, scope_values = customer_condition(visible_to, "record.id")
    customer_id = approval.document.customer_id
    # A statement that waits sees the account managers from before the wait, so ask after it.
    if scope_values and not CUSTOMERS.find(CUSTOMERS.equal(id=customer_id), (scope, scope_values)):
        raise RecordNotFoundError
    return approval


def lock_document(pk: UUID, *, visible_to: User | None) -> Document:
    """Return the document, locked; raises RecordNotFoundError if the person cannot see it.

    None sees every document; the argument has no default, so that no caller forgets it.
    """
    require_transaction()
    conditions = DOCUMENTS.equal(id=pk), customer_condition(visible_to, "record.customer_id")
    find = partial(DOCUMENTS.find, *conditions, suffix=_lock_clause(_LOCKED))
    # If the statement waited for the lock and the document got another customer meanwhile,
    # PostgreSQL checked that one against the scope from before the wait. Ask again.
    for document in find() or find():
        return document
    raise RecordNotFoundError


def lock_draft(pk: UUID, *, visible_to: User | None) -> Document:
    """Return the document, locked, with its customer held; raises as lock_document does.

    What is compared with the draft and what is frozen of it are then of one moment.
    """
    document = lock_document(pk, visible_to=visible_to)
    document.customer = hold_customer(document.customer_id, visible_to=visible_to)
    return document


def hold_customer(pk: UUID, *, visible_to: User | None) -> Customer:
    """Hold one as hold_customers does; raises RecordNotFoundError if the person cannot see it."""
    for customer in hold_customers([pk], visible_to=visible_to):
        return customer
    raise RecordNotFoundError


def hold_customers(pks: Collection[UUID], *, visible_to: User | None) -> list[Customer]:
    """Return those of the customers that the person can see, under a shared lock ("held").

    Nobody changes them before the transaction ends, so a name that a document is found by, or
    frozen with, is still the customer's at commit. Others can hold the same customers.
    """
    require_transaction()
    named, scope = CUSTOMERS.among("id", pks), customer_condition(visible_to, "record.id")
    in_order = "ORDER BY record.id"
    held = CUSTOMERS.find(named, scope, suffix=f"{in_order} {_lock_clause(_HELD)}")
    _, scope_values = scope
    # If the statement waited for a lock, it saw the account managers from before the wait.
    return CUSTOMERS.find(named, scope, suffix=in_order) if scope_values else held


def _lock_with_document(named: Condition) -> IssueApproval | None:
    require_transaction()
    where, values = named
    statement = _APPROVAL.format(
        approval_columns=APPROVALS.select("record"),
        document_columns=DOCUMENTS.select("document"),
        customer_columns=CUSTOMERS.select("customer"),
        approvals=APPROVALS.table,
        documents=DOCUMENTS.table,
        customers=CUSTOMERS.table,
        named=where,
        locks=_lock_clause(_LOCKED_WITH_DOCUMENT),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
    if row is None:
        return None
    document_from, customer_from = len(APPROVALS.columns), -len(CUSTOMERS.columns)
    approval = APPROVALS.read(row[:document_from])
    approval.document = DOCUMENTS.read(row[document_from:customer_from])
    approval.document.customer = CUSTOMERS.read(row[customer_from:])
    return approval


def _lock_clause(clause: str) -> str:
    """Return the clause; nothing for SQLite, which has none."""
    return clause if connection.features.has_select_for_update else ""
