from collections.abc import Callable
from datetime import date
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from invoicing.access import Permission
from invoicing.draft_fields import DraftInput, LineItemInput
from invoicing.errors import (
    ConflictError,
    RecordNotFoundError,
)
from invoicing.models import Document, DocumentStatus, DocumentType, Line, TaxRow
from invoicing.services.drafts import create_draft, preview_draft, update_draft
from invoicing.totals import DiscountType
from tests.factories import (
    DUE_DATE,
    ISSUE_DATE,
    CustomerFactory,
    TaxRateFactory,
    UserFactory,
    draft_input,
    line_input,
    make_connection_ref,
    make_draft,
    make_staff,
)
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db

FIGURES = ("net_total", "discount_total", "tax_total", "grand_total")


def figures(document: Document) -> list[int]:
    return [getattr(document, name) for name in FIGURES]


def written(document: Document) -> DraftInput:
    """Return the input that would write the document as it is."""
    lines = [
        line_input(
            description=line.description,
            quantity=line.quantity_ten_thousandths,
            unit_price=line.unit_price,
            unit=line.unit,
            discount_type=line.discount_type,
            discount_value=line.discount_value,
            tax_rate_id=line.tax_rate_id,
        )
        for line in document.lines.all()
    ]
    names = ("currency_code", "issue_date", "due_date", "language", "notes", "reference")
    header = {name: getattr(document, name) for name in names}
    return draft_input(document.customer, *lines, **header)


@pytest.mark.requirement("draft.only_a_draft", "document.draft_without_number")
def test_a_draft_is_saved_with_its_lines_tax_rows_and_totals() -> None:
    user, customer = make_staff(), CustomerFactory.create()
    standard = TaxRateFactory.create()
    maker = make_connection_ref("Ledger agent")
    draft = draft_input(
        customer,
        line_input(quantity=15_000, unit_price=333, tax_rate_id=standard.id),
        line_input(description="  Travel\r\nto Oslo ", unit="\tkm", unit_price=100),
        language="de",
        notes=" Thank you\t! ",
        reference=" PO 7 ",
    )
    document = create_draft(user, draft, connection=maker)

    saved = Document.objects.get()
    assert saved == document
    assert (saved.type, saved.status, saved.lock_version) == ("invoice", "draft", 1)
    assert (saved.customer, saved.created_by) == (customer, user)
    assert (saved.issue_date, saved.due_date) == (ISSUE_DATE, DUE_DATE)
    assert (saved.currency_code, saved.minor_unit, saved.language) == ("EUR", 2, "de")
    assert (saved.notes, saved.reference) == ("Thank you !", "PO 7")
    assert (saved.connection_id, saved.connection_name) == (maker.connection_id, "Ledger agent")
    assert (saved.number, saved.series, saved.series_value, saved.issued_at) == (None,) * 4
    assert figures(saved) == [700, 0, 95, 795]
    assert list(saved.lines.values_list("position", "description", "unit", "net_amount")) == [
        (0, "Consulting", "", 500),
        (1, "Travel\nto Oslo", "km", 200),
    ]
    assert list(saved.tax_rows.values_list("name", "taxable_amount", "tax_amount")) == [
        ("Standard rate", 500, 95)
    ]


def test_a_draft_made_by_a_person_names_no_connection() -> None:
    document = make_draft()
    assert (document.connection_id, document.connection_name) == (None, "")


def test_a_draft_without_a_language_gets_that_of_the_installation() -> None:
    assert make_draft().language == "en"


def test_a_draft_code_is_eight_characters_that_nobody_misreads() -> None:
    code = make_draft().draft_code
    assert code[:2] == "D-"
    assert len(code) == 10
    assert not set(code[2:]) & set("ILOU")


def line_inputs(rate_ids) -> st.SearchStrategy[LineItemInput]:
    discounts = st.one_of(
        st.just((None, None)),
        st.tuples(st.just(DiscountType.PERCENT), st.integers(0, 10_000)),
        st.tuples(st.just(DiscountType.AMOUNT), st.integers(0, 100)),
    )
    return st.builds(
        lambda quantity, unit_price, discount, rate_id: line_input(
            quantity=quantity,
            unit_price=unit_price,
            discount_type=discount[0],
            discount_value=discount[1],
            tax_rate_id=rate_id,
        ),
        st.integers(10_000, 99_999_999),
        st.integers(100, 10**9),
        discounts,
        st.sampled_from([None, *rate_ids]),
    )


@pytest.mark.requirement("money.scale_and_totals")
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), currency_code=st.sampled_from(["EUR", "JPY", "BHD"]))
def test_preview_and_create_agree(data, currency_code) -> None:
    user, customer = make_staff(), CustomerFactory.create()
    rates = [
        TaxRateFactory.create(name=str(percentage), percentage_ten_thousandths=percentage)
        for percentage in (190_000, 70_000, 88_750, 0)
    ]
    lines = data.draw(st.lists(line_inputs([rate.id for rate in rates]), min_size=1, max_size=5))
    draft = draft_input(customer, *lines, currency_code=currency_code)
    preview, _, lines, tax_rows = preview_draft(user, draft)
    saved = Document.objects.get(pk=create_draft(user, draft).pk)

    assert figures(preview) == figures(saved)
    assert preview.minor_unit == saved.minor_unit
    line_columns = ("position", "unit_price", "discount_amount", "net_amount", "tax_rate_id")
    assert [tuple(getattr(line, name) for name in line_columns) for line in lines] == list(
        saved.lines.values_list(*line_columns)
    )
    tax_columns = ("position", "tax_rate_id", "name", "taxable_amount", "tax_amount")
    assert [tuple(getattr(row, name) for name in tax_columns) for row in tax_rows] == list(
        saved.tax_rows.values_list(*tax_columns)
    )


@pytest.mark.requirement("draft_input.complete", "document.draft_editable")
def test_an_update_replaces_the_whole_draft() -> None:
    user, rate = make_staff(), TaxRateFactory.create()
    document = make_draft(
        user=user,
        lines=(line_input(tax_rate_id=rate.id), line_input()),
        notes="old",
        reference="old",
        connection=make_connection_ref(),
    )
    other = CustomerFactory.create()
    draft = draft_input(
        other, line_input(unit_price=7), currency_code="JPY", due_date=date(2026, 5, 1)
    )
    answer = update_draft(user, document.pk, draft, lock_version=1)

    saved = Document.objects.get()
    assert saved.lock_version == answer.lock_version == 2
    assert (saved.customer, saved.currency_code, saved.minor_unit) == (other, "JPY", 0)
    assert (saved.due_date, saved.notes, saved.reference) == (date(2026, 5, 1), "", "")
    assert figures(saved) == figures(answer) == [14, 0, 0, 14]
    assert list(Line.objects.values_list("document", "unit_price")) == [(saved.pk, 7)]
    assert TaxRow.objects.count() == 0
    assert (saved.draft_code, saved.connection_id) == (document.draft_code, document.connection_id)
    assert saved.updated_at > document.updated_at


def test_writing_a_draft_back_as_it_is_changes_its_lock_version_only() -> None:
    user, rate = make_staff(), TaxRateFactory.create()
    lines = (
        line_input(tax_rate_id=rate.id, discount_type=DiscountType.PERCENT, discount_value=500),
        line_input(unit="h"),
    )
    document = make_draft(user=user, lines=lines, notes="a\nb", reference="r", language="fr")
    update_draft(user, document.pk, written(document), lock_version=1)
    again = Document.objects.get()
    assert again.lock_version == 2
    assert written(again) == written(document)
    assert figures(again) == figures(document)


@pytest.mark.requirement("error.stale_update")
@pytest.mark.parametrize("lock_version", [0, 2, -1, 10**30])
def test_a_stale_update_changes_nothing(lock_version) -> None:
    user = make_staff()
    document = make_draft(user=user)
    draft = draft_input(document.customer, line_input(unit_price=1))
    before = take_snapshot()
    with pytest.raises(ConflictError):
        update_draft(user, document.pk, draft, lock_version=lock_version)
    assert take_snapshot() == before


@pytest.mark.requirement("draft_input.editable_invoice")
def test_a_draft_credit_note_is_no_draft_invoice() -> None:
    user = make_staff()
    document = make_draft(user=user, document_type=DocumentType.CREDIT_NOTE)
    before = take_snapshot()
    with pytest.raises(ConflictError):
        update_draft(user, document.pk, written(document), lock_version=1)
    assert take_snapshot() == before


def test_a_missing_and_a_hidden_draft_look_the_same() -> None:
    stranger, document = UserFactory.create(), make_draft()
    before = take_snapshot()
    for user, pk in [(stranger, document.pk), (make_staff(), uuid4())]:
        with pytest.raises(RecordNotFoundError):
            update_draft(user, pk, written(document), lock_version=1)
    assert take_snapshot()["invoices.Document"] == before["invoices.Document"]


def test_a_hidden_draft_is_not_found_before_its_input_is_looked_at() -> None:
    document = make_draft()
    draft = draft_input(document.customer, currency_code="XXX")
    with pytest.raises(RecordNotFoundError):
        update_draft(UserFactory.create(), document.pk, draft, lock_version=1)


def test_an_account_manager_makes_drafts_for_their_customers() -> None:
    manager = UserFactory.create(permissions=[Permission.MANAGE])
    customer = CustomerFactory.create(account_managers=[manager])
    document = create_draft(manager, draft_input(customer))
    update_draft(manager, document.pk, draft_input(customer), lock_version=1)
    assert Document.objects.get().lock_version == 2


def test_the_largest_amount_is_kept_to_the_last_digit() -> None:
    largest = 10**18 - 1
    document = make_draft(lines=(line_input(quantity=10_000, unit_price=largest),))
    saved = Document.objects.get(pk=document.pk)
    assert (saved.grand_total, saved.lines.get().net_amount) == (largest, largest)


def test_the_number_of_queries_does_not_grow_with_the_lines() -> None:
    user, customer = make_staff(), CustomerFactory.create()
    rates = [TaxRateFactory.create(name=str(number)) for number in range(10)]
    user.has_perm(Permission.MANAGE)

    def draft_of(number_of_lines) -> DraftInput:
        lines = [line_input(tax_rate_id=rates[n % 10].id) for n in range(number_of_lines)]
        return draft_input(customer, *lines)

    def count(write: Callable[..., object], *arguments: object, **options: object) -> int:
        with CaptureQueriesContext(connection) as queries:
            write(user, *arguments, **options)
        return len(queries)

    document = create_draft(user, draft_of(1))
    assert len({count(preview_draft, draft_of(lines)) for lines in (1, 10, 80)}) == 1
    assert len({count(create_draft, draft_of(lines)) for lines in (10, 20, 80)}) == 1
    versions = enumerate((10, 20, 80), start=1)
    updates = {
        count(update_draft, document.pk, draft_of(lines), lock_version=version)
        for version, lines in versions
    }
    assert len(updates) == 1


def test_a_failed_update_leaves_the_old_lines(monkeypatch) -> None:
    user, document = make_staff(), make_draft()
    before = take_snapshot()
    failure = Mock(side_effect=RuntimeError("the power went out"))
    monkeypatch.setattr(TaxRow.objects, "bulk_create", failure)
    with pytest.raises(RuntimeError, match="the power went out"):
        update_draft(user, document.pk, draft_input(document.customer), lock_version=1)
    assert take_snapshot() == before
    assert Document.objects.get().status == DocumentStatus.DRAFT
