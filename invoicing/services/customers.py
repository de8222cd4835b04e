"""Creates and changes customers, and keeps the word table true, so that searches find them."""

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
    """Save many customers at once, without validation, and return them."""
    with transaction.atomic():
        Customer.objects.bulk_create(customers)
        write_rows({row for customer in customers for row in rows_of_customer(customer)})
    return customers


def add_customer(customer: Customer, changes: Changes) -> None:
    """Save a new customer with changes; raises ValidationError."""
    require_transaction()
    write_changes(customer, changes)
    write_rows(rows_of_customer(customer))


def change_customer(pk: UUID, **changes: Any) -> None:
    """Change fields of a customer; raises RecordNotFoundError, ValidationError."""
    with transaction.atomic():
        customer = lock_customer(pk)
        rename_words(customer, changes.get("name", customer.name))
        write_changes(customer, changes)


def rename_words(customer: Customer, name: str) -> None:
    """Let a locked customer and its drafts be found by a name, which the caller writes afterwards.

    Issued documents keep the buyer's name that was frozen. Ten thousand drafts take ten seconds, so
    the caller has no lock yet for which others wait who do not write these drafts.
    """
    require_transaction()
    if name == customer.name:
        return
    renamed = Customer(id=customer.id, name=name)
    replace_rows(rows_of_customer(customer), rows_of_customer(renamed))
    # All of its drafts: while the customer is locked, none is added and none is issued.
    for drafts in batches_by_id(customer.documents.filter(status=DocumentStatus.DRAFT)):
        replace_rows(_rows_under(customer, drafts), _rows_under(renamed, drafts))


def _rows_under(customer: Customer, drafts: list[Document]) -> set[Row]:
    for draft in drafts:
        draft.customer = customer
    return {row for draft in drafts for row in rows_of_document(draft)}
