"""Documents on paper: what a browser prints, sheet by sheet."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect
from pypdf import PdfReader

from invoicing.access import Permission
from invoicing.models import Company, Customer, User
from tests.approvals import prepare
from tests.factories import line_input, make_connection_ref, make_draft, make_issued, make_staff

# A sheet is the same on both databases.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]


def test_an_invoice_prints_without_the_application_around_it(open_page, delegate, customer):
    issued = make_issued(user=delegate, customer=customer)
    page = open_page(f"/documents/{issued.id}", delegate)
    page.emulate_media(media="print")
    expect(page.get_by_text("IBAN DE02 1203 0000 0000 2020 51")).to_be_visible()
    for gone in [page.locator("header.top"), page.locator(".heading"), page.locator(".about")]:
        expect(gone).to_be_hidden()


def test_a_draft_prints_without_what_its_page_says_to_its_writer(open_page, company, customer):
    writer = make_staff(Permission.VIEW_DOCUMENT, Permission.MANAGE)
    page = open_page(f"/documents/{make_draft(customer=customer).id}", writer)
    told = page.get_by_text("Your account does not have the permission to issue it")
    expect(told).to_be_visible()
    page.emulate_media(media="print")
    expect(told).to_be_hidden()


Print = Callable[..., list[str]]


@pytest.fixture
def print_issued(open_page: Any, delegate: User, customer: Customer) -> Print:
    """Return a function that returns an invoice with lines of these texts, sheet by sheet."""
    page = open_page("/documents", delegate)

    def print_another(texts: list[str], notes: str = "") -> list[str]:
        lines = tuple(line_input(description=text) for text in texts)
        issued = make_issued(user=delegate, customer=customer, lines=lines, notes=notes)
        page.goto(f"/documents/{issued.id}")
        # As browsers print it unless told otherwise.
        pdf = page.pdf(format="A4", display_header_footer=True)
        return [" ".join(sheet.extract_text().split()) for sheet in PdfReader(BytesIO(pdf)).pages]

    return print_another


def test_every_sheet_is_numbered_named_without_the_house_and_cuts_no_line_in_two(print_issued):
    goes_on = "and goes on\n" * 4
    sheets = print_issued([f"Service {number} begins\n{goes_on}and ends" for number in range(20)])
    count = len(sheets)
    assert count > 2
    assert sheets[0].startswith(f"1 / {count} Invoice INV-2026-0001")
    for number, sheet in enumerate(sheets[1:], start=2):
        assert sheet.startswith(f"INV-2026-0001 {number} / {count} Description Quantity")
    begun = [sheet.count(" begins ") for sheet in sheets]
    assert begun == [sheet.count(" and ends ") for sheet in sheets]
    assert sum(begun) == 20
    # Nor does the browser add the page's address and title.
    assert not [sheet for sheet in sheets if "https://" in sheet or "Invoicing" in sheet]


@pytest.mark.prove
def test_the_totals_are_whole_and_never_alone_on_the_last_sheet(print_issued):
    # Among these are the counts that fill a sheet, or two, up to where the totals would begin, and
    # those that fill the second one up to somewhere within the totals.
    for count in (*range(11, 20), *range(30, 42)):
        sheets = print_issued([f"Service {number}" for number in range(count)])
        assert "Service" in sheets[-1], count
        assert [sheet for sheet in sheets if "Net total" in sheet] == [
            sheet for sheet in sheets if " Total €" in sheet
        ], count


def test_a_usual_invoice_is_one_sheet_and_a_swiss_payment_part_another(print_issued, customer):
    fields = {"registration": "HRB 12345", "email": "invoices@halden.example", "phone": "+49 40 1"}
    Company.objects.update(**fields, contact_name="Dana", footer_text="Managing director: Olivia")
    [sheet] = print_issued([f"Service {number}" for number in range(6)], "Thank you.")
    assert "Scan to pay" in sheet
    Company.objects.update(iban="CH9300762011623852957", country="CH")
    first, second = print_issued(["Service"])
    assert "Managing director" in first
    assert second.startswith("Separate before paying in Receipt Account / Payable to CH93 0076")


def rows(count: int, name: str = "row") -> str:
    return "\n".join(f"{name} {number}" for number in range(count))


def test_a_line_taller_than_a_sheet_begins_on_the_first_and_flows(print_issued):
    for texts in ([rows(110)], ["Before", rows(110), "After"]):
        sheets = print_issued(texts)
        printed = [sheet.count("row ") for sheet in sheets]
        assert sum(printed) == 110
        assert min(printed[:-1]) > 10, printed
        assert texts[-1].split("\n")[-1] in sheets[-1]
        assert "Net total" in sheets[-1]


def test_the_totals_stay_with_the_end_of_a_tall_line(print_issued):
    # Among these are the counts with which the line ends where the totals would begin.
    for count in range(24, 38, 3):
        *_, last = print_issued(["First", rows(count)])
        assert f"row {count - 1} " in last, count
        assert "Net total" in last, count


def test_no_sheet_ends_with_a_heading(print_issued):
    headings = ("Amount", "Notes", "Bank details", "From", "To")
    cases = [
        (["First", rows(20), rows(40), "Last"], ""),
        (["First"], rows(150, "note")),
        ([f"Service {number}" for number in range(13)], rows(40, "note")),
        ([f"Service {number}" for number in range(37)], "Thank you."),
    ]
    for texts, notes in cases:
        sheets = print_issued(texts, notes)
        assert [sheet[-60:] for sheet in sheets if sheet.endswith(headings)] == []
        assert sum(sheet.count("note ") for sheet in sheets) == notes.count("note ")


def test_a_draft_prints_without_the_question_that_waits(open_page, delegate, customer):
    draft = make_draft(user=delegate, customer=customer, language="de")
    prepare(draft, user=delegate, connection=make_connection_ref(), now=timezone.now())
    page = open_page(f"/documents/{draft.id}", delegate)
    question = page.get_by_text("asks you to issue this invoice")
    expect(question).to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name="Rechnung (Entwurf)")).to_be_visible()
    expect(question).to_be_hidden()


def test_who_reads_in_the_dark_prints_as_everybody_does(open_page, delegate, customer):
    issued = make_issued(user=delegate, customer=customer)
    page = open_page(f"/documents/{issued.id}", delegate)
    inks = []
    for medium, scheme in (("screen", "dark"), ("print", "dark"), ("print", "light")):
        page.emulate_media(media=medium, color_scheme=scheme)
        inks.append(page.evaluate("getComputedStyle(document.body).color"))
    assert inks[0] != inks[1] == inks[2]
