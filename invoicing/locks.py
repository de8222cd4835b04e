"""Row locks, only inside a transaction and in one order: approval, document, customer, numbers.

A credit note comes before the invoice that it corrects, as in the trigger that guards it, and the
format of numbers before their series. The settings and the heads of audit chains come after these,
so that stopping agents does not wait for work on documents. What has to be signed, and then
passkeys, come after the administration's head and before those of connections. People and other
records come last, in acts of administration. An import of customers takes its turn before all of
these. SQLite has no row locks; there the transaction itself is the lock (transaction_mode
IMMEDIATE).
"""

from collections.abc import Collection
from typing import TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Model, QuerySet

from invoicing.access import Permission
from invoicing.errors import PermissionMissingError, RecordNotFoundError
from invoicing.models import Customer, Document, User

_Record = TypeVar("_Record", bound=Model)


def require_transaction() -> None:
    """Raise RuntimeError outside a transaction, where a lock would be released at once."""
    if not connection.in_atomic_block:
        raise RuntimeError("a row is locked inside a transaction or not at all")


def lock_record(records: QuerySet[_Record], pk: UUID | int) -> _Record:
    """Return the record, locked exclusively; raises RecordNotFoundError if the queryset lacks it.

    Rows that refer to it can still be written.
    """
    for record in _locked(records.filter(pk=pk)):
        return record
    raise RecordNotFoundError


def _locked(records: QuerySet[_Record]) -> QuerySet[_Record]:
    require_transaction()
    return records.select_for_update(of=("self",), no_key=True)


def lock_person(pk: UUID) -> User:
    """Return the person, locked; raises RecordNotFoundError."""
    return lock_record(User.objects.all(), pk)


def lock_customer(pk: UUID) -> Customer:
    """Return the customer, locked; raises RecordNotFoundError."""
    return lock_record(Customer.objects.all(), pk)


def lock_draft(pk: UUID, *, visible_to: User | None) -> Document:
    """Return the document and its customer, locked; raises RecordNotFoundError if it is hidden.

    What is compared with the draft and what is frozen of it are then of one moment, and so is what
    is left of the invoice that it corrects, which is locked as well. None sees every document; the
    argument has no default, so that no caller forgets it.
    """
    document = lock_record(Document.objects.all(), pk)
    if document.corrects_id:
        document.corrects = lock_record(Document.objects.all(), document.corrects_id)
    customers = lock_customers([document.customer_id], visible_to=visible_to)
    if document.customer_id not in customers:
        raise RecordNotFoundError
    document.customer = customers[document.customer_id]
    return document


def lock_customers(pks: Collection[UUID], *, visible_to: User | None) -> dict[UUID, Customer]:
    """Return by ID those of the customers that the person can see, locked exclusively.

    They are locked in order of ID, so that no two calls wait in a circle. A name that a document
    is found by, or frozen with, is then still the customer's at commit.
    """
    wanted = Customer.objects.filter(pk__in=pks)
    # To sort just one costs a third of the query.
    ordered = wanted.order_by("pk") if len(pks) > 1 else wanted
    locked = {each.pk: each for each in _locked(ordered)}
    if visible_to is None or visible_to.has_perm(Permission.VIEW_ALL_CUSTOMERS):
        return locked
    # Asked after the wait for the locks: account managers may have changed meanwhile.
    seen = Customer.objects.visible_to(visible_to).filter(pk__in=pks).values_list("pk", flat=True)
    return {pk: locked[pk] for pk in seen if pk in locked}


def require_still_allowed(user: User, pk: UUID, *permissions: Permission) -> None:
    """Check a person's permissions and scope again, after a wait for a lock.

    Raises PermissionMissingError if a permission was withdrawn or the web session ended meanwhile,
    and RecordNotFoundError if the document is out of scope by now.
    """
    current = require_still_signed_in(user)
    if not current.has_perms(permissions):
        raise PermissionMissingError
    Document.objects.visible_to(current).find(pk)


def require_still_signed_in(user: User) -> User:
    """Return the person as of now; raises PermissionMissingError if the web session ended."""
    current = User.objects.get(pk=user.pk)
    if current.session_revision != user.session_revision:
        raise PermissionMissingError
    return current
