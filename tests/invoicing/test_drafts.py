from unittest.mock import Mock

import pytest

from invoicing.models import Document, DocumentStatus, TaxRow
from invoicing.services.drafts import create_draft, update_draft
from tests.factories import (
    DUE_DATE,
    ISSUE_DATE,
    CustomerFactory,
    TaxRateFactory,
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


def test_a_draft_code_is_eight_characters_that_nobody_misreads() -> None:
    code = make_draft().draft_code
    assert code[:2] == "D-"
    assert len(code) == 10
    assert not set(code[2:]) & set("ILOU")


def test_a_failed_update_leaves_the_old_lines(monkeypatch) -> None:
    user, document = make_staff(), make_draft()
    before = take_snapshot()
    failure = Mock(side_effect=RuntimeError("the power went out"))
    monkeypatch.setattr(TaxRow.objects, "bulk_create", failure)
    with pytest.raises(RuntimeError, match="the power went out"):
        update_draft(user, document.pk, draft_input(document.customer), lock_version=1)
    assert take_snapshot() == before
    assert Document.objects.get().status == DocumentStatus.DRAFT
