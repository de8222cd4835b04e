"""Credit notes that correct an invoice: what they take back, in whose names, and what is left."""

from datetime import date

import pytest

from invoicing.access import Permission
from invoicing.errors import ConflictError, DraftInvalidError, RecordNotFoundError
from invoicing.fixed_point import SCALE
from invoicing.models import Company, Customer, Document, TaxRate, User
from invoicing.services.corrections import create_correction, read_balance, update_correction
from invoicing.services.document_facts import read_document
from invoicing.services.issuing import issue_document
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CompanyFactory,
    CustomerFactory,
    TaxRateFactory,
    UserFactory,
    ask_correction,
    line_input,
    make_correction,
    make_draft,
    make_issued,
    make_staff,
)
from tests.snapshots import take_snapshot

CORRECTOR = (Permission.VIEW_DOCUMENT, Permission.MANAGE, Permission.FINALIZE)
LINE_AMOUNTS = ("quantity_ten_thousandths", "discount_amount", "net_amount")
TAX_AMOUNTS = ("name", "taxable_amount", "tax_amount")
TOTALS = ("net_total", "discount_total", "tax_total", "grand_total")


@pytest.fixture
def person(db: None) -> User:
    return make_staff(*CORRECTOR)


@pytest.fixture
def invoice(person: User) -> Document:
    """Three lines: 3 x 50.00 less 10 % and 3 x 1.00 less 1.00, at 19 %; 2 x 50.00 untaxed."""
    rate = TaxRateFactory.create()
    taxed = {"tax_rate_id": rate.id, "quantity": 3 * SCALE}
    return make_issued(
        user=person,
        reference="PO 7",
        lines=(
            line_input(**taxed, discount_type="percent", discount_value=1000, unit="h"),
            line_input(**taxed, unit_price=100, discount_type="amount", discount_value=100),
            line_input(),
        ),
    )


def issue(draft: Document) -> Document:
    return issue_document(draft, clock=at(ISSUED_AT))


def amounts_of(document: Document) -> tuple[list[tuple[int, ...]], list[tuple[object, ...]]]:
    lines, rows = document.lines.values_list(*LINE_AMOUNTS), document.tax_rows.all()
    return list(lines), list(rows.values_list(*TAX_AMOUNTS))


def totals_of(document: Document) -> list[int]:
    return [getattr(document, name) for name in TOTALS]


def is_nothing_left(invoice: Document) -> bool:
    left = read_balance(invoice).left
    amounts = [left.net_total, left.discount_total, left.tax_total, left.national_tax]
    return not any([*amounts, *(part.quantity for part in left.lines.values())])


def test_a_full_correction_repeats_the_invoice(person, invoice):
    draft = make_correction(invoice, reason="Never delivered.")
    assert (draft.type, draft.number, draft.customer, draft.corrects) == (
        "credit_note",
        None,
        invoice.customer,
        invoice,
    )
    assert amounts_of(draft) == amounts_of(invoice)
    assert totals_of(draft) == totals_of(invoice) == [23_700, 1_600, 2_603, 26_303]
    issued = issue(draft)
    assert (issued.number, issued.correction_reason) == ("CN-2026-0001", "Never delivered.")
    assert read_document(issued)["corrects"] == {
        "number": "INV-2026-0001",
        "issue_date": "2026-03-02",
    }
    assert is_nothing_left(invoice)


def test_corrections_in_parts_end_at_exactly_nothing(person, invoice):
    """In thirds that no cent divides; the last takes whatever is left."""
    parts = [
        issue(make_correction(invoice, 3333, SCALE, None)),
        issue(make_correction(invoice, SCALE, SCALE, 5000)),
        issue(make_correction(invoice)),
    ]
    assert [amounts_of(each) for each in parts] == [
        ([(3333, 167, 1500), (SCALE, 33, 67)], [("Standard rate", 1567, 298)]),
        (
            [(SCALE, 500, 4500), (SCALE, 33, 67), (5000, 0, 2500)],
            [("Standard rate", 4567, 868)],
        ),
        (
            [(16_667, 833, 7500), (SCALE, 34, 66), (15_000, 0, 7500)],
            [("Standard rate", 7566, 1437)],
        ),
    ]
    assert [each.number for each in parts] == ["CN-2026-0001", "CN-2026-0002", "CN-2026-0003"]
    assert is_nothing_left(invoice)
    with pytest.raises(DraftInvalidError):
        make_correction(invoice)


@pytest.mark.parametrize(
    ("currency_code", "price", "nets"),
    [
        ("JPY", 100, [33, 33, 34]),
        ("BHD", 100_000, [33_330, 33_330, 33_340]),
    ],
)
def test_amounts_have_the_decimals_of_their_currency(person, currency_code, price, nets):
    line = line_input(quantity=SCALE, unit_price=price)
    invoice = make_issued(user=person, currency_code=currency_code, lines=(line,))
    parts = [issue(make_correction(invoice, quantity)) for quantity in (3333, 3333, 3334)]
    assert [(each.currency_code, each.minor_unit, each.net_total) for each in parts] == [
        (currency_code, invoice.minor_unit, net) for net in nets
    ]
    assert is_nothing_left(invoice)


def test_a_credit_note_says_what_the_invoice_said_whatever_changed_since(person):
    CompanyFactory.create(tax_number="11/222/33333", national_currency="EUR")
    rate = TaxRateFactory.create(category="S", names={"en": "VAT"}, reasons={"en": "Your tax."})
    customer = CustomerFactory.create(name="Acme Ltd", email="books@acme.example")
    draft = make_draft(
        user=person,
        customer=customer,
        currency_code="USD",
        lines=(line_input(tax_rate_id=rate.id, quantity=3 * SCALE, unit_price=333),),
    )
    Document.objects.filter(pk=draft.pk).update(
        supply_date=date(2026, 2, 1),
        supply_end_date=date(2026, 2, 28),
        delivery_country="NL",
        buyer_reference="04011000-1234512345-35",
        exchange_rate_millionths=1_085_700,
        exchange_rate_base="EUR",
        exchange_rate_date=date(2026, 3, 1),
    )
    invoice = issue(Document.objects.get())
    Customer.objects.update(name="Another", street="Elsewhere 2", is_active=False, email="")
    Company.objects.update(name="Sold", vat_number="", tax_number="", national_currency="CHF")
    TaxRate.objects.update(is_active=False, category="", names={}, reasons={})

    parts = [issue(make_correction(invoice, quantity)) for quantity in (SCALE, 2 * SCALE)]

    told = ("seller", "customer", "supply_date", "supply_end_date", "delivery_country")
    more = ("buyer_reference", "exchange_rate", "exchange_rate_base", "exchange_rate_date")
    original, *facts = map(read_document, (invoice, *parts))
    for name in (*told, *more, "currency_code", "language", "national_currency"):
        assert [each[name] for each in facts] == [original[name]] * 2
    rates = [
        {name: row[name] for name in ("name", "percentage", "category", "printed_name", "reason")}
        for row in (each["tax_breakdown"][0] for each in (original, *facts))
    ]
    assert rates == [rates[0]] * 3
    assert [each["national_tax_total"] for each in (original, *facts)] == [175, 58, 117]
    assert [each["tax_total"] for each in (original, *facts)] == [190, 63, 127]
    assert [(each.seller_parts, each.buyer_parts) for each in parts] == [
        (invoice.seller_parts, invoice.buyer_parts)
    ] * 2


def test_what_a_draft_takes_back_can_be_changed(person, invoice):
    draft = make_correction(invoice)
    asked = ask_correction(invoice, None, None, SCALE, reason="One.", issue_date=date(2026, 3, 9))
    update_correction(person, draft.pk, asked, lock_version=1)
    changed = Document.objects.get(pk=draft.pk)
    assert (changed.lock_version, changed.correction_reason) == (2, "One.")
    assert changed.issue_date == changed.due_date == date(2026, 3, 9)
    assert amounts_of(changed) == ([(SCALE, 0, 5000)], [])
    assert totals_of(changed) == [5000, 0, 0, 5000]

    with pytest.raises(ConflictError, match="OLD_VERSION"):
        update_correction(person, draft.pk, asked, lock_version=1)
    issue(changed)
    before = take_snapshot()
    with pytest.raises(ConflictError, match="NO_DRAFT_INVOICE"):
        update_correction(person, draft.pk, asked, lock_version=3)
    assert take_snapshot() == before


def test_a_draft_that_takes_back_more_than_is_left_by_now_waits_for_its_change(person, invoice):
    first, second = make_correction(invoice), make_correction(invoice, SCALE, None, None)
    issue(second)
    before = take_snapshot()
    with pytest.raises(ConflictError, match="LESS_IS_LEFT"):
        issue(first)
    assert take_snapshot() == before
    update_correction(person, first.pk, ask_correction(invoice), lock_version=1)
    issue(Document.objects.get(pk=first.pk))
    assert is_nothing_left(invoice)


def test_a_draft_that_is_rounded_otherwise_by_now_waits_too(person):
    """Its quantity is left, but not the cent to which the first rounded up."""
    invoice = make_issued(user=person, lines=(line_input(quantity=15_000, unit_price=1),))
    drafts = [make_correction(invoice, 5000) for _ in range(3)]
    issue(drafts[0])
    issue(drafts[1])
    with pytest.raises(ConflictError, match="LESS_IS_LEFT"):
        issue(drafts[2])


@pytest.mark.parametrize("quantities", [(3 * SCALE + 1, None, None), (None, -1, None), (None,) * 3])
def test_only_what_is_left_is_taken_back(person, invoice, quantities):
    before = take_snapshot()
    with pytest.raises(DraftInvalidError):
        make_correction(invoice, *quantities)
    assert take_snapshot() == before


def test_only_an_issued_invoice_is_corrected_and_only_by_who_sees_it(person, invoice):
    note = issue(make_correction(invoice, SCALE, None, None))
    draft, other = make_draft(user=person), make_correction(invoice)
    asked, stranger = ask_correction(invoice), UserFactory.create(permissions=CORRECTOR)
    before = take_snapshot()
    for wrong in (note, draft):
        with pytest.raises(ConflictError, match="NO_ISSUED_INVOICE"):
            create_correction(person, wrong.pk, asked)
    with pytest.raises(RecordNotFoundError):
        create_correction(stranger, invoice.pk, asked)
    with pytest.raises(RecordNotFoundError):
        update_correction(stranger, other.pk, asked, lock_version=1)
    with pytest.raises(ConflictError, match="NO_DRAFT_INVOICE"):
        update_correction(person, draft.pk, asked, lock_version=1)
    assert take_snapshot() == before
