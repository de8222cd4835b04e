"""Writes what the word table lacks of all records, in short transactions, beside a running service.

A run that broke off is begun again: it writes only what is still missing. Rows that no record
needs any more stay; they show nothing, since the record decides (ADR 14).
"""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from tqdm import tqdm

from invoicing.draft_fields import SUBJECT
from invoicing.models import Customer, Document, DocumentStatus
from invoicing.services.search_words import (
    batches_by_id,
    rows_of_customer,
    rows_of_document,
    write_rows,
)

# A draft is locked, and on SQLite every writer waits, until so many records are done.
_RECORDS_AT_ONCE = 200
# What a record is found by. A migration has no other columns, and later releases may have more.
_OF_CUSTOMER = ("id", "name")
_OF_DOCUMENT = (
    "id",
    "status",
    "number",
    "draft_code",
    SUBJECT,
    "buyer_name",
    "customer_id",
    "customer__name",
)


def rebuild_words(customers: QuerySet[Any], documents: QuerySet[Any]) -> int:
    """Write the rows that are missing or have another customer; return how many these were.

    The querysets are of all customers and documents, in a migration of its own models.
    """
    total = customers.count() + documents.count()
    written = 0
    with tqdm(total=total, desc="Records", disable=None, leave=False, delay=1) as progress:
        for records, write_batch in ((customers, _write_customers), (documents, _write_documents)):
            for batch in batches_by_id(records.only("pk"), _RECORDS_AT_ONCE):
                with transaction.atomic():
                    written += write_batch(records.filter(pk__in=[each.pk for each in batch]))
                progress.update(len(batch))
    return written


def _write_customers(customers: QuerySet[Any]) -> int:
    found = [Customer(**values) for values in customers.values(*_OF_CUSTOMER)]
    return write_rows({row for each in found for row in rows_of_customer(each)})


def _write_documents(documents: QuerySet[Any]) -> int:
    # Until the commit no draft gets another customer. An issued document never does; and words of
    # a name that the customer has no longer show nothing.
    drafts = documents.filter(status=DocumentStatus.DRAFT).order_by("pk")
    list(drafts.select_for_update(no_key=True).values_list("pk"))
    found = [_make_document(**values) for values in documents.values(*_OF_DOCUMENT)]
    return write_rows({row for each in found for row in rows_of_document(each)})


def _make_document(customer_id: UUID, customer__name: str, **values: Any) -> Document:
    return Document(customer=Customer(id=customer_id, name=customer__name), **values)
