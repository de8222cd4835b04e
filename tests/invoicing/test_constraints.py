from datetime import UTC, date, datetime, time
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models import F, Model
from django.utils import timezone

from agent_access.approvals.models import ApprovalRequest
from invoicing.identifiers import new_id
from invoicing.models import (
    Company,
    Customer,
    Document,
    Line,
    NumberSeries,
    TaxRate,
    TaxRow,
    TimeOff,
    User,
    WorkingHours,
)
from tests.approvals import A_MINUTE_LATER, TEN_MINUTES_LATER, prepare
from tests.factories import (
    CompanyFactory,
    TaxRateFactory,
    UserFactory,
    line_input,
    make_draft,
    make_issued,
    make_staff,
)
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db

TOO_LARGE = 10**18
APPROVED = {"decision": "approved", "decided_at": A_MINUTE_LATER}
EXECUTED = {"executed_at": A_MINUTE_LATER, "execute_key": "key-12345", "result": "{}"}


def refused(change) -> bool:
    """Return whether the database refuses the change and keeps every row as it was."""
    before = take_snapshot()
    try:
        with transaction.atomic():
            change()
    except IntegrityError:
        return take_snapshot() == before
    return False


def out_of_range(*amounts: str) -> list[dict[str, Any]]:
    return [{amount: value} for amount in amounts for value in (-1, TOO_LARGE)]


# What each row would say of itself; of a draft with one taxed line of 2 x 50.00.
CONTRADICTIONS: dict[type[Model], list[dict[str, Any]]] = {
    Document: [
        {"type": "receipt"},
        {"status": "sent"},
        {"status": "issued"},
        {"number": "INV-2026-0001"},
        {"issued_at": datetime(2026, 3, 2, tzinfo=UTC)},
        {"series_value": 1},
        {"due_date": date(2026, 3, 1)},
        {"lock_version": 0},
        {"net_total": -1, "tax_total": 1, "grand_total": 0},
        {"net_total": TOO_LARGE, "tax_total": 0, "grand_total": TOO_LARGE},
        {"net_total": TOO_LARGE, "tax_total": -1, "grand_total": TOO_LARGE - 1},
        {"net_total": TOO_LARGE - 1, "tax_total": 1, "grand_total": TOO_LARGE},
        {"tax_total": TOO_LARGE, "net_total": 0, "grand_total": TOO_LARGE},
        {"tax_total": -1, "grand_total": 9_999},
        {"grand_total": 1},
        {"minor_unit": -1},
        {"minor_unit": 5},
        *out_of_range("discount_total"),
    ],
    Line: [
        {"quantity_ten_thousandths": 0},
        {"quantity_ten_thousandths": -1},
        {"discount_type": "percent"},
        {"discount_type": "amount"},
        {"discount_value": 1},
        {"discount_type": "percent", "discount_value": 10_001},
        {"discount_type": "percent", "discount_value": -1},
        {"discount_type": "amount", "discount_value": TOO_LARGE},
        {"discount_type": "amount", "discount_value": -1},
        {"discount_type": "rebate", "discount_value": 1},
        *out_of_range("unit_price", "discount_amount", "net_amount"),
    ],
    TaxRow: out_of_range("taxable_amount", "tax_amount"),
    TaxRate: [
        {"percentage_ten_thousandths": -1},
        {"percentage_ten_thousandths": 1_000_001},
        {"category": "X"},
        {"category": "Z"},
        {"category": "S", "percentage_ten_thousandths": 0},
    ],
    Company: [{"untaxed_category": "Z"}],
    User: [
        {"email": "Dana@halden.example"},
        {"email": "dana@h\xe4lden.example"},
        {"email": "d\xe4na@halden.example"},
        {"hourly_rate": -1},
    ],
    ApprovalRequest: [
        {"decision": "approved"},
        {"decided_at": A_MINUTE_LATER},
        {"decision": "deferred", "decided_at": A_MINUTE_LATER},
        {"rejection_reason": "Wrong customer."},
        APPROVED | {"rejection_reason": "Wrong customer."},
        APPROVED | {"decided_at": TEN_MINUTES_LATER},
        EXECUTED,
        EXECUTED | {"decision": "rejected", "decided_at": A_MINUTE_LATER},
        APPROVED | EXECUTED | {"executed_at": TEN_MINUTES_LATER},
        APPROVED | EXECUTED | {"executed_at": None},
        APPROVED | {"executed_at": A_MINUTE_LATER},
        APPROVED | {"execute_key": "key-12345"},
        APPROVED | {"result": "{}"},
        APPROVED | EXECUTED | {"execute_key": ""},
        APPROVED | EXECUTED | {"result": ""},
    ],
}


@pytest.mark.parametrize(
    ("model", "columns"),
    [(model, columns) for model, cases in CONTRADICTIONS.items() for columns in cases],
    ids=str,
)
def test_a_row_that_contradicts_itself_is_refused(company, customer, tax_rate, model, columns):
    user = make_staff()
    draft = make_draft(user=user, customer=customer, lines=(line_input(tax_rate_id=tax_rate.id),))
    prepare(draft, user=user)
    row = model.objects.filter(pk=model.objects.values_list("pk")[0][0])
    assert refused(lambda: row.update(**columns))


@pytest.mark.parametrize("missing", ["number", "series", "series_value", "issued_at"])
def test_an_issued_document_has_number_series_value_and_time(missing) -> None:
    document = make_draft()
    series = NumberSeries.objects.create(type="invoice", year=2026, last_value=1)
    facts = {"number": "N-1", "series": series, "series_value": 1, "issued_at": timezone.now()}
    del facts[missing]
    change = Document.objects.filter(pk=document.pk).update
    assert refused(lambda: change(status="issued", **facts))


ISSUED_TOO = {"status": "issued", "number": "INV-2026-0002", "series_value": 2}


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "draft"},
        {"status": "draft", "number": None, "series_value": None, "issued_at": None},
        {"number": "INV-2026-0001"},
        {"series_value": 1},
    ],
    ids=["numbered draft", "draft of a series", "number", "place in series"],
)
def test_an_issued_document_has_a_number_and_a_place_of_its_own_and_a_draft_none(columns) -> None:
    issued, draft = make_issued(), make_draft()
    given = {**ISSUED_TOO, "series": issued.series, "issued_at": timezone.now()}
    change = Document.objects.filter(pk=draft.pk).update
    assert refused(lambda: change(**(given | columns)))


def test_a_draft_code_is_given_once() -> None:
    first, second = make_draft(), make_draft()
    change = Document.objects.filter(pk=second.pk).update
    assert refused(lambda: change(draft_code=first.draft_code))


def test_two_lines_of_a_document_never_share_a_position() -> None:
    make_draft(lines=(line_input(), line_input()))
    assert refused(lambda: Line.objects.filter(position=1).update(position=0))


@pytest.mark.parametrize("column", ["position", "tax_rate_id"])
def test_two_tax_rows_of_a_document_share_neither_position_nor_rate(column) -> None:
    rates = TaxRateFactory.create_batch(2)
    make_draft(lines=tuple(line_input(tax_rate_id=rate.id) for rate in rates))
    first, second = TaxRow.objects.order_by("position")
    change = TaxRow.objects.filter(pk=second.pk).update
    assert refused(lambda: change(**{column: getattr(first, column)}))


def test_there_is_one_company() -> None:
    company = CompanyFactory.create()
    assert refused(lambda: CompanyFactory.create(owner=company.owner))
    assert refused(lambda: CompanyFactory.create(owner=company.owner, is_only_one=False))
    assert Company.objects.count() == 1


def test_a_type_has_one_series_a_year() -> None:
    NumberSeries.objects.create(type="invoice", year=2026)
    assert refused(lambda: NumberSeries.objects.create(type="invoice", year=2026))
    assert refused(lambda: NumberSeries.objects.create(type="receipt", year=2026))


def test_a_session_revision_begins_above_zero() -> None:
    assert refused(lambda: UserFactory.create(session_revision=0))


def test_an_address_signs_in_one_person() -> None:
    first, second = UserFactory.create_batch(2)
    assert refused(lambda: User.objects.filter(pk=second.pk).update(email=first.email))


@pytest.mark.parametrize(
    ("weekday", "start", "end"),
    [(0, time(17), time(9)), (0, time(9), time(9)), (7, time(9), time(17))],
)
def test_working_hours_begin_before_they_end_on_a_day_of_the_week(weekday, start, end) -> None:
    person = UserFactory.create()
    create = WorkingHours.objects.create
    assert refused(lambda: create(person=person, weekday=weekday, start_time=start, end_time=end))


@pytest.mark.parametrize("columns", [{"end_date": date(2026, 7, 1)}, {"kind": "boredom"}], ids=str)
def test_time_off_that_makes_no_sense_is_refused(columns) -> None:
    person, day = UserFactory.create(), date(2026, 7, 2)
    facts = {"start_date": day, "end_date": day, "kind": "holiday"}
    assert refused(lambda: TimeOff.objects.create(person=person, **(facts | columns)))
    TimeOff.objects.create(person=person, **facts)


def test_what_the_constraints_allow_is_not_refused() -> None:
    make_draft()
    assert not refused(lambda: Document.objects.update(lock_version=F("lock_version") + 1))
    assert not refused(lambda: Customer.objects.update(is_active=False))


def test_an_approval_expires_after_it_was_prepared(delegate, draft) -> None:
    approval = prepare(draft, user=delegate).approval
    approval.pk, approval.expires_at = new_id(), approval.prepared_at
    assert refused(lambda: approval.save(force_insert=True))


def test_a_document_is_issued_by_one_approval(delegate, draft) -> None:
    first, second = (prepare(draft, user=delegate).approval for _ in range(2))
    change = ApprovalRequest.objects.filter(pk=first.pk).update
    assert change(**APPROVED, **EXECUTED)
    change = ApprovalRequest.objects.filter(pk=second.pk).update
    assert refused(lambda: change(**APPROVED, **EXECUTED))
