"""Uploaded files that wait until they are imported, given up, or a day old."""

from collections import deque
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from django.contrib.auth.models import Permission as PermissionRow
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from invoicing.access import Permission
from invoicing.customer_imports.columns import propose_fields
from invoicing.customer_imports.planning import Plan, find_customers, plan_rows, read_rows
from invoicing.customer_imports.reading import read_table
from invoicing.errors import RecordNotFoundError
from invoicing.locks import lock_customers, lock_person, lock_record
from invoicing.models import Customer, CustomerImport, User

KEPT = timedelta(days=1)
FILE_NAME_LENGTH = 200
# Customers in one statement.
AT_ONCE = 1000

_Record = TypeVar("_Record")


def keep_file(user: User, *, name: str, content: bytes) -> CustomerImport:
    """Keep a file in place of the person's earlier one; raises FileUnreadableError.

    Of two that come at once, the one that waits for the person's row takes the other's place.
    """
    headers, rows = read_table(content)
    deque(rows, maxlen=0)  # reads them all, and keeps none
    fields = propose_fields(headers)
    is_over = Q(created_by=user) | Q(created_at__lt=timezone.now() - KEPT)
    with transaction.atomic():
        lock_person(user.pk)
        CustomerImport.objects.filter(is_over).delete()
        return CustomerImport.objects.create(
            created_by=user,
            file_name=name[:FILE_NAME_LENGTH],
            content=content,
            columns=fields,
        )


def take_turn() -> None:
    """Wait until no other import runs, so that two do not add one customer twice.

    The turn ends with the transaction. It is the lock of a row that nobody writes: uploads and
    previews go on meanwhile.
    """
    _, codename = Permission.MANAGE_CUSTOMERS.split(".")
    rows = PermissionRow.objects.filter(content_type__app_label="invoices")
    lock_record(rows, rows.get(codename=codename).pk)


def find_waiting(user: User, pk: UUID) -> CustomerImport:
    """Return the person's file; raises RecordNotFoundError."""
    for waiting in CustomerImport.objects.filter(pk=pk, created_by=user):
        return waiting
    raise RecordNotFoundError


def plan_import(user: User, waiting: CustomerImport, *, locks: bool = False) -> Plan:
    """Return what the import would do as of now; with `locks`, to customers that stay locked."""
    rows = read_rows(read_table(bytes(waiting.content)), waiting.columns)
    customers: list[Customer] = []
    for pks in in_batches(find_customers(user, rows)):
        if locks:
            customers += lock_customers(pks, visible_to=user).values()
        else:
            customers += Customer.objects.visible_to(user).filter(pk__in=pks)
    return plan_rows(rows, customers)


def in_batches(records: Sequence[_Record]) -> Iterator[Sequence[_Record]]:
    for start in range(0, len(records), AT_ONCE):
        yield records[start : start + AT_ONCE]
