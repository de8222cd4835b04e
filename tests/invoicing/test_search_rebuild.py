"""Rebuilding the search: what is missing comes back, whoever works meanwhile."""

import io
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from invoicing.models import Customer, Document, SearchWord
from invoicing.search.paging import PageRequest
from invoicing.search.records import find_customers
from invoicing.search.table import key_of_customer
from invoicing.services import search_rebuild, search_words
from invoicing.services.customers import change_customer
from invoicing.services.drafts import update_draft
from invoicing.services.search_rebuild import rebuild_words
from tests.factories import CustomerFactory, draft_input, make_draft, make_issued, make_staff
from tests.invoicing.word_table import kept_rows, true_rows
from tests.threads import Encounter, run_together

pytestmark = pytest.mark.django_db


def rebuild() -> str:
    output = io.StringIO()
    call_command("rebuild_search", stdout=output)
    return output.getvalue()


@pytest.fixture
def records(company) -> None:
    for name in ("Œuvre", "O'Brien", "Müller"):
        customer = CustomerFactory.create(name=name)
        make_draft(customer=customer, reference="PO 7")
        make_issued(customer=customer)
        change_customer(customer.pk, name=f"{name} anew")


def test_what_is_missing_is_written_and_nothing_else(records, monkeypatch) -> None:
    monkeypatch.setattr(search_rebuild, "_RECORDS_AT_ONCE", 2)
    monkeypatch.setattr(search_words, "_ROWS_PER_STATEMENT", 7)
    complete = kept_rows()
    assert rebuild() == "The search is complete: 0 rows were missing.\n"
    lost = list(SearchWord.objects.order_by("word", "record").values_list("pk", flat=True)[::3])
    for pk in lost:
        SearchWord.objects.get(pk=pk).delete()
    assert rebuild() == f"The search is complete: {len(lost)} rows were missing.\n"
    assert kept_rows() == complete == true_rows()


def test_a_row_with_the_wrong_customer_is_corrected(records) -> None:
    right = kept_rows()
    SearchWord.objects.update(customer=key_of_customer(CustomerFactory.create(name="!").pk))
    rebuild()
    assert right <= kept_rows() == true_rows()


def test_a_rebuild_that_broke_off_is_completed_by_the_next(records, monkeypatch) -> None:
    monkeypatch.setattr(search_rebuild, "_RECORDS_AT_ONCE", 1)
    SearchWord.objects.all().delete()
    monkeypatch.setattr(search_rebuild, "_write_documents", None)
    with pytest.raises(TypeError):
        rebuild()
    assert 0 < len(kept_rows()) < len(true_rows())
    monkeypatch.undo()
    rebuild()
    assert kept_rows() == true_rows()


@pytest.mark.django_db(transaction=True)
def test_the_migration_writes_the_forms_of_records_that_are_there(records) -> None:
    complete = kept_rows()
    for row in complete:
        if row.word[1:4] in {b"oeu", b"mue", b"obr"}:
            SearchWord.objects.get(pk=(row.word, row.record)).delete()
    assert kept_rows() < complete
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    name = next(key for key in graph.nodes if key[1].endswith("_search_forms"))
    state = executor.loader.project_state([name])
    models: Any = (state.apps.get_model("invoices", each) for each in ("Customer", "Document"))
    rebuild_words(*(model.objects.all() for model in models))
    assert kept_rows() == complete
    [customer], _ = find_customers(make_staff(), PageRequest(search="oeuvre", limit=5))
    assert customer.name == "Œuvre anew"


@pytest.mark.postgresql  # SQLite has one writer at a time
@pytest.mark.django_db(transaction=True)
def test_a_draft_that_is_handed_over_meanwhile_is_found_under_its_new_customer(
    company, monkeypatch
) -> None:
    user, customers = make_staff(), CustomerFactory.create_batch(2, name="Acme")
    draft = make_draft(user=user, customer=customers[0], reference="PO 7")
    SearchWord.objects.filter(record=draft.pk.bytes).delete()
    encounter = Encounter()
    make = search_rebuild._make_document

    def note_reading(**values: Any) -> Document:
        encounter.wait_here()
        return make(**values)

    def hand_over() -> None:
        change = draft_input(customers[1], reference="PO 7")
        encounter.come(lambda: update_draft(user, draft.pk, change, lock_version=1))

    monkeypatch.setattr(search_rebuild, "_make_document", note_reading)
    run_together([rebuild, hand_over])
    assert Document.objects.get().customer_id == customers[1].pk
    assert kept_rows() == true_rows()
    assert Customer.objects.count() == 2
