"""Customers are made and changed here, so that they and their drafts are found by their names."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from invoicing.locks import lock_customer, require_transaction
from invoicing.models import Customer, Document, DocumentStatus
from invoicing.search.table import Row
from invoicing.services.record_changes import Changes, write_changes
from invoicing.services.search_words import (
    batches_by_id,
    replace_rows,
    rows_of_customer,
    rows_of_document,
    write_rows,
)


def create_customers(customers: Sequence[Customer]) -> Sequence[Customer]:
    """Save customers, many at a time, and return them; their columns are not checked."""
    with transaction.atomic():
        Customer.objects.bulk_create(customers)
        write_rows({row for customer in customers for row in rows_of_customer(customer)})
    return customers


def create_customer(**changes: Any) -> Customer:
    """Save a customer with these columns and return it; raises ValidationError."""
    customer = Customer()
    with transaction.atomic():
        write_customer(customer, changes)
    return customer


def change_customer(pk: UUID, **changes: Any) -> None:
    """Give a customer these columns; raises RecordNotFoundError, ValidationError."""
    with transaction.atomic():
        write_customer(lock_customer(pk), changes)


def write_customer(customer: Customer, changes: Changes) -> None:
    """Save with the changes a customer that is new, or that the caller has locked.

    By another name its drafts are found from now on; issued documents keep the buyer's name that
    was frozen. Raises ValidationError.
    """
    require_transaction()
    if customer._state.adding:
        write_changes(customer, changes)
        write_rows(rows_of_customer(customer))
        return
    former = Customer(id=customer.id, name=customer.name)
    write_changes(customer, changes)
    if customer.name != former.name:
        replace_rows(rows_of_customer(former), rows_of_customer(customer))
        # While the customer is locked, no draft comes or is issued.
        for drafts in batches_by_id(customer.documents.filter(status=DocumentStatus.DRAFT)):
            replace_rows(_rows_under(former, drafts), _rows_under(customer, drafts))


def _rows_under(customer: Customer, drafts: list[Document]) -> set[Row]:
    for draft in drafts:
        draft.customer = customer
    return {row for draft in drafts for row in rows_of_document(draft)}
