"""The word table says at every commit what the records say, whoever wrote them, however at once."""

from collections.abc import Callable
from functools import partial

import pytest
from django.db import transaction

from invoicing.errors import ConflictError, RecordNotFoundError
from invoicing.identifiers import new_id
from invoicing.models import Document, SearchWord
from invoicing.search.table import TABLE, Row
from invoicing.services import customers as customer_service
from invoicing.services import search_words
from invoicing.services.customers import change_customer
from invoicing.services.drafts import update_draft
from invoicing.services.issuing import issue_document
from invoicing.services.search_words import rows_of_document
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CompanyFactory,
    CustomerFactory,
    draft_input,
    make_draft,
    make_issued,
    make_staff,
)
from tests.invoicing.word_table import kept_rows, true_rows
from tests.plans import plans_of
from tests.snapshots import take_snapshot
from tests.threads import Encounter, run_together

pytestmark = pytest.mark.django_db


def words_of_record(record) -> set[bytes]:
    rows = SearchWord.objects.filter(record=record.pk.bytes)
    return {bytes(word) for word in rows.values_list("word", flat=True)}


def test_the_drafts_of_a_renamed_customer_are_written_in_batches(monkeypatch) -> None:
    monkeypatch.setattr(search_words, "_RECORDS_AT_ONCE", 2)
    monkeypatch.setattr(search_words, "_ROWS_PER_STATEMENT", 3)
    customer = CustomerFactory.create(name="Old")
    for _ in range(5):
        make_draft(customer=customer)
    change_customer(customer.pk, name="New")
    assert kept_rows() == true_rows()


@pytest.mark.sqlite  # PostgreSQL gets another statement
def test_words_are_removed_without_reading_the_whole_table() -> None:
    draft = make_draft(reference="former words")
    before = rows_of_document(draft)
    draft.reference = "others instead"
    remove = partial(search_words.replace_rows, before, rows_of_document(draft))
    assert f"SCAN {TABLE}" not in plans_of(remove, where="DELETE FROM")


def test_a_write_that_fails_leaves_no_word(monkeypatch) -> None:
    user, customer = make_staff(), CustomerFactory.create()
    draft = make_draft(user=user, customer=customer)
    before = take_snapshot()
    with pytest.raises(ConflictError):
        update_draft(user, draft.pk, draft_input(customer, reference="new"), lock_version=9)
    with pytest.raises(RecordNotFoundError):
        change_customer(new_id(), name="Nobody")
    monkeypatch.setattr(customer_service, "rows_of_document", None)
    with pytest.raises(TypeError), transaction.atomic():
        change_customer(customer.pk, name="Half renamed")
    assert take_snapshot() == before


def test_an_issued_document_takes_index_rows_although_it_is_frozen() -> None:
    issued = make_issued()
    SearchWord.objects.all().delete()
    search_words.write_rows(rows_of_document(issued))
    assert words_of_record(issued) == {row.word for row in rows_of_document(issued)}


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("work", ["create", "update", "hand over", "issue"])
def test_whoever_writes_while_a_customer_is_renamed_leaves_no_former_word(
    monkeypatch, work
) -> None:
    """The writer has read the former name when the new one comes."""
    CompanyFactory.create()
    user = make_staff()
    customer, other = CustomerFactory.create(name="Old"), CustomerFactory.create(name="Other")
    draft = make_draft(user=user, customer=other if work == "hand over" else customer)
    encounter = Encounter()

    def note_reading(document: Document) -> set[Row]:
        encounter.wait_here()
        return rows_of_document(document)

    for writer in ("drafts", "issuing"):
        monkeypatch.setattr(f"invoicing.services.{writer}.rows_of_document", note_reading)

    def write() -> None:
        if work == "create":
            make_draft(user=user, customer=customer)
        elif work == "issue":
            issue_document(draft, clock=at(ISSUED_AT))
        else:
            update_draft(user, draft.pk, draft_input(customer, reference="Old"), lock_version=1)

    def rename() -> None:
        encounter.come(lambda: change_customer(customer.pk, name="New"))

    run_together([write, rename])
    assert kept_rows() == true_rows()


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_customer_under_change_is_waited_for_and_read_anew() -> None:
    CompanyFactory.create()
    user, customer = make_staff(), CustomerFactory.create(name="Old")
    drafts = [make_draft(user=user, customer=customer) for _ in range(10)]

    def update(draft: Document) -> object:
        change = draft_input(customer, reference="A Bb")
        return update_draft(user, draft.pk, change, lock_version=1)

    acts: list[Callable[[], object]] = [
        *(partial(change_customer, customer.pk, name=name) for name in ("A", "Bb", "Ccc", "Dddd")),
        *(partial(make_draft, user=user, customer=customer) for _ in range(4)),
        *(partial(issue_document, draft, clock=at(ISSUED_AT)) for draft in drafts[:4]),
        *(partial(update, draft) for draft in drafts[4:8]),
    ]
    run_together(acts)
    assert kept_rows() == true_rows()
    assert Document.objects.filter(buyer_name="Old").count() <= 4
