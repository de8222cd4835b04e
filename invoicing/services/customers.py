"""Creates and changes customers, and keeps the word table true, so that searches find them."""

from collections.abc import Collection, Mapping, Sequence
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


def save_customers(
    customers: Collection[Customer], *, fields: Collection[str], old_names: Mapping[UUID, str]
) -> None:
    """Save fields of many locked customers at once, without validation.

    `old_names` has, by ID, the names until now of those that get another one.
    """
    require_transaction()
    if old_names:
        _rename_words(old_names, {customer.id: customer.name for customer in customers})
    # Quicker than bulk_update() by far. No row is inserted, since they are locked.
    Customer.objects.bulk_create(
        customers, update_conflicts=True, unique_fields=["id"], update_fields=fields
    )


def rename_words(customer: Customer, name: str) -> None:
    """Let a locked customer and its drafts be found by a name, which the caller writes afterwards.

    Issued documents keep the buyer's name that was frozen. Ten thousand drafts take ten seconds, so
    the caller has no lock yet for which others wait who do not write these drafts.
    """
    require_transaction()
    if name != customer.name:
        _rename_words({customer.id: customer.name}, {customer.id: name})


def _rename_words(old: Mapping[UUID, str], new: Mapping[UUID, str]) -> None:
    """Let locked customers and their drafts be found by their new names; all by ID."""
    before, after = ({pk: Customer(id=pk, name=names[pk]) for pk in old} for names in (old, new))
    replace_rows(_rows_of(before), _rows_of(after))
    # All of their drafts: while the customers are locked, none is added and none is issued.
    drafts = Document.objects.filter(customer_id__in=[*old], status=DocumentStatus.DRAFT)
    for batch in batches_by_id(drafts):
        replace_rows(_rows_under(before, batch), _rows_under(after, batch))


def _rows_of(customers: Mapping[UUID, Customer]) -> set[Row]:
    return {row for customer in customers.values() for row in rows_of_customer(customer)}


def _rows_under(customers: Mapping[UUID, Customer], drafts: list[Document]) -> set[Row]:
    for draft in drafts:
        draft.customer = customers[draft.customer_id]
    return {row for draft in drafts for row in rows_of_document(draft)}
