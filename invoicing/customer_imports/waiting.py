"""Uploaded files that wait until they are imported, given up, or a day old."""

from collections import deque
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from invoicing.customer_imports.columns import propose_fields
from invoicing.customer_imports.planning import Plan, find_customers, plan_rows, read_rows
from invoicing.customer_imports.reading import read_table
from invoicing.errors import RecordNotFoundError
from invoicing.locks import lock_customers, require_transaction
from invoicing.models import Customer, CustomerImport, User

KEPT = timedelta(days=1)
FILE_NAME_LENGTH = 200
# Customers in one statement.
AT_ONCE = 1000

_Record = TypeVar("_Record")


def keep_file(user: User, *, name: str, content: bytes) -> CustomerImport:
    """Keep a file in place of the person's earlier one; raises FileUnreadableError."""
    headers, rows = read_table(content)
    deque(rows, maxlen=0)  # reads them all, and keeps none
    fields = propose_fields(headers)
    is_over = Q(created_by=user) | Q(created_at__lt=timezone.now() - KEPT)
    CustomerImport.objects.filter(is_over).delete()
    return CustomerImport.objects.create(
        created_by=user,
        file_name=name[:FILE_NAME_LENGTH],
        content=content,
        columns=fields,
    )


def lock_waiting(user: User, pk: UUID) -> CustomerImport:
    """Return the person's file, locked with all others, so that imports run one by one.

    Raises RecordNotFoundError if it is not there, or not any more.
    """
    require_transaction()
    locked = CustomerImport.objects.select_for_update().order_by("pk")
    if pk not in list(locked.values_list("pk", flat=True)):
        raise RecordNotFoundError
    return find_waiting(user, pk)


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
