"""Documents written by the thousand are what the services would have written one by one."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from invoicing.errors import DraftInvalidError
from invoicing.models import Document, DocumentType, Line, NumberSeries
from invoicing.sample_company import bulk, loading
from invoicing.sample_company.bulk import NewDocument, write_documents
from invoicing.services.issuing import issue_document
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    TaxRateFactory,
    draft_input,
    line_input,
    make_draft,
    make_issued,
    make_staff,
)
from tests.invoicing.word_table import kept_rows, true_rows
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db

DOCUMENTS = 60
# What differs from one load to the next.
RANDOM = {"id", "draft_code", "created_at", "updated_at", "series", "document"}


def load(*, in_bulk_from: int, monkeypatch: Any) -> list[list[dict[str, object]]]:
    """Load a company whose documents are written in bulk from a place on; return all they say."""
    monkeypatch.setattr(loading, "DEFAULT_DOCUMENTS", in_bulk_from)
    monkeypatch.setattr(loading, "BATCH_DOCUMENTS", 25)
    # Between the two ways three customers are retired, whose place others would take.
    monkeypatch.setattr(loading, "retire_customers", list)
    with transaction.atomic():
        loading.load_sample_company(password="p", documents=DOCUMENTS)
        documents = Document.objects.order_by("id").prefetch_related("lines", "tax_rows")
        said = [
            [
                columns_of(each)
                for each in (document, *document.lines.all(), *document.tax_rows.all())
            ]
            for document in documents
        ]
        assert kept_rows() == true_rows()
        transaction.set_rollback(True)
    return said


def columns_of(record: Any) -> dict[str, object]:
    """Return every column but those that are random; references as what they mean."""
    fields = [each for each in record._meta.concrete_fields if each.name not in RANDOM]
    return {each.name: str(getattr(record, each.name)) for each in fields}


def test_a_load_in_bulk_says_in_every_column_what_the_services_say(monkeypatch):
    by_services = load(in_bulk_from=DOCUMENTS, monkeypatch=monkeypatch)
    in_bulk = load(in_bulk_from=0, monkeypatch=monkeypatch)
    assert len(in_bulk) == DOCUMENTS
    assert in_bulk == by_services


def new_documents(count: int, **fields: Any) -> list[NewDocument]:
    customer, author = CustomerFactory.create(name="Acme"), make_staff()
    rate = TaxRateFactory.create()
    draft = draft_input(customer, line_input(tax_rate_id=rate.id), line_input(), **fields)
    return [NewDocument(author=author, draft=draft, issued_at=ISSUED_AT) for _ in range(count)]


def test_numbers_go_on_without_a_gap_in_each_series(company):
    make_issued()
    invoices = new_documents(3)
    notes = [replace(each, type=DocumentType.CREDIT_NOTE) for each in new_documents(2)]
    former = new_documents(2, issue_date=date(2025, 12, 31))
    drafts = [replace(each, issued_at=None) for each in new_documents(2)]

    write_documents([*invoices[:2], *notes, *drafts, *former, *invoices[2:]])
    make_issued()

    numbers = Document.objects.order_by("id").values_list("number", flat=True)
    assert list(numbers) == [
        "INV-2026-0001",
        "INV-2026-0002",
        "INV-2026-0003",
        "CN-2026-0001",
        "CN-2026-0002",
        None,
        None,
        "INV-2025-0001",
        "INV-2025-0002",
        "INV-2026-0004",
        "INV-2026-0005",
    ]
    ends = NumberSeries.objects.values_list("type", "year", "last_value")
    assert set(ends) == {("invoice", 2026, 5), ("credit_note", 2026, 2), ("invoice", 2025, 2)}
    assert kept_rows() == true_rows()


def test_what_was_issued_in_bulk_is_frozen_and_what_was_not_can_be_issued(company):
    issued, draft = new_documents(2)
    write_documents([issued, replace(draft, issued_at=None)])
    frozen, open_draft = Document.objects.order_by("id")
    before = take_snapshot()
    for change in (
        lambda: Document.objects.filter(pk=frozen.pk).update(reference="x"),
        lambda: frozen.lines.update(description="x"),
        lambda: frozen.tax_rows.all().delete(),
        lambda: write_rows_of(frozen),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()
    assert take_snapshot() == before
    assert issue_document(open_draft, clock=at(ISSUED_AT)).number == "INV-2026-0002"


def write_rows_of(document: Document) -> None:
    Line.objects.create(
        document=document,
        position=9,
        description="Late",
        quantity_ten_thousandths=1,
        unit_price=0,
        discount_amount=0,
        net_amount=0,
    )


def test_a_draft_that_cannot_be_written_leaves_nothing_of_its_batch(company):
    good = new_documents(2)
    inactive = CustomerFactory.create(is_active=False)
    bad = replace(good[0], draft=good[0].draft.model_copy(update={"customer_id": inactive.id}))
    before = take_snapshot()
    with pytest.raises(DraftInvalidError) as refused:
        write_documents([good[0], bad, good[1]])
    assert [problem.field for problem in refused.value.problems] == ["customer_id"]
    assert take_snapshot() == before


def test_a_draft_code_that_is_taken_is_drawn_again(company, monkeypatch):
    taken = make_draft().draft_code
    codes = iter([taken, "D-00000001", "D-00000001", taken, "D-00000002", "D-00000003"])
    field = Document._meta.get_field("draft_code")
    monkeypatch.setattr(field, "_get_default", lambda: next(codes))
    monkeypatch.setattr(bulk, "new_draft_code", lambda: next(codes))
    write_documents(new_documents(3))
    made = Document.objects.exclude(draft_code=taken).order_by("id")
    assert {each.draft_code for each in made} == {"D-00000001", "D-00000002", "D-00000003"}


@pytest.mark.postgresql  # SQLite takes fewer parameters in a statement
def test_a_batch_is_so_many_statements_however_many_documents_it_has(company):
    make_issued()  # the first number of a year begins the series
    few, many = new_documents(2), new_documents(40)
    counts = []
    for batch in (few, many):
        with CaptureQueriesContext(connection) as captured:
            write_documents(batch)
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert Document.objects.count() == 43
