"""The documents that load tests write at once can be read, searched and issued as others can."""

from datetime import datetime

import pytest

from benchmarks.bulk_documents import NewDocument, write_documents
from invoicing.models import Document
from invoicing.services.issuing import issue_document
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    TaxRateFactory,
    draft_input,
    line_input,
    make_issued,
    make_staff,
)
from tests.invoicing.word_table import kept_rows, true_rows

pytestmark = pytest.mark.django_db

# Their keys, and who wrote them when.
OF_EACH = {"id", "document", "customer", "draft_code", "created_by", "created_at", "updated_at"}


def said_by(document: Document) -> list[dict[str, object]]:
    return [
        {
            field.name: getattr(record, field.name)
            for field in record._meta.concrete_fields
            if field.name not in OF_EACH | {"issued_by", "number", "series_value"}
        }
        for record in (document, *document.lines.all(), *document.tax_rows.all())
    ]


def test_documents_written_at_once_are_as_those_written_one_by_one(company):
    customer, author, rate = CustomerFactory.create(), make_staff(), TaxRateFactory.create()
    lines = (line_input(tax_rate_id=rate.id), line_input())
    draft = draft_input(customer, *lines)
    instants: list[datetime | None] = [ISSUED_AT, None, ISSUED_AT]
    write_documents([NewDocument(author=author, draft=draft, issued_at=each) for each in instants])

    first, not_issued, last = Document.objects.order_by("id")
    issue_document(not_issued, clock=at(ISSUED_AT))
    one_by_one = make_issued(lines=lines, customer=customer)

    documents = [first, last, Document.objects.get(pk=not_issued.pk), one_by_one]
    assert [each.number for each in documents] == [f"INV-2026-000{n}" for n in (1, 2, 3, 4)]
    assert [said_by(each) for each in documents] == [said_by(one_by_one)] * 4
    assert kept_rows() == true_rows()
