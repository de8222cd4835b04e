"""The files of a document: who gets them, as what, and what is said where there are none."""

import hashlib
import re
import subprocess
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from invoicing.access import Permission
from invoicing.errors import InvoicingError
from invoicing.models import Company, Customer, Document, Original, OriginalKind, TaxRate
from invoicing.originals import keeping
from invoicing.pdf.making import GlyphsMissingError, PdfError
from invoicing.web import originals
from tests.administration import acts_written
from tests.approvals import prepare
from tests.factories import (
    UserFactory,
    line_input,
    make_correction,
    make_draft,
    make_issued,
    make_staff,
    withdraw,
)
from tests.interface.refusals import nothing_changes
from tests.web.forms import main_of
from tests.web.reviews import path_of, read

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


PDF = b"%PDF-1.7 for a test"
PHONE = "The phone number of your company is missing."
ISSUER = (Permission.VIEW_DOCUMENT, Permission.MANAGE, Permission.FINALIZE)


@pytest.fixture(autouse=True)
def seller(company: Company) -> Company:
    """A company and a customer of which no e-invoice lacks anything."""
    Company.objects.update(
        email="invoices@halden.example",
        contact_name="Dana Okonkwo",
        phone="+49 40 123456",
        electronic_address="DE136695976",
        electronic_address_scheme="9930",
    )
    return company


@pytest.fixture
def customer(customer) -> Customer:
    Customer.objects.update(
        electronic_address="12345678",
        electronic_address_scheme="0106",
        buyer_reference="04011000-12345-03",
    )
    return Customer.objects.get()


@pytest.fixture
def lines(tax_rate) -> Sequence[Any]:
    TaxRate.objects.update(category="S")
    return (line_input(tax_rate_id=tax_rate.id),)


@pytest.fixture
def draft(customer, lines) -> Document:
    return make_draft(customer=customer, lines=lines)


@pytest.fixture
def issued(customer, lines) -> Document:
    return make_issued(customer=customer, lines=lines)


@pytest.fixture
def reader(sign_in):
    """The browser of somebody who may look at documents, and nothing else."""
    return sign_in(make_staff(Permission.VIEW_DOCUMENT))


@pytest.fixture
def administrator(sign_in):
    return sign_in(make_staff(*ISSUER, is_staff=True, is_superuser=True))


@pytest.fixture
def quick_pdf(monkeypatch) -> None:
    """Make each PDF of a few bytes, without a process."""
    make_pdfs(monkeypatch, lambda: PDF)


def make_pdfs(monkeypatch, make: Any) -> None:
    for module in (keeping, originals):
        monkeypatch.setattr(module, "make_pdf", lambda *_: make())


def file_of(document: Document, kind: str) -> str:
    return f"/documents/{document.id}/{kind}"


def links_of(page: Any) -> list[str]:
    """Return the names of the files that the page of a document offers."""
    return re.findall(
        r'<a class="button" href="/documents/[^/]+/[a-z]+">(\w[\w ]+)</a>', files(page)
    )


def files(page: Any) -> str:
    text = main_of(page)
    return text[text.index('<section class="files"') : text.index("</section>")]


def reasons_of(page: Any) -> dict[str, list[str]]:
    """Return the facts that the page of a document names, by what they are missing for."""
    found = re.findall(
        r"<summary>\s*Why there (?:is|would be) no (.*?)\s*</summary>(.*?)</ul>", files(page)
    )
    return {
        kinds: re.findall(r'<li><div class="text">(.*?)(?: <a |</div>)', facts)
        for kinds, facts in found
    }


@pytest.mark.parametrize(
    ("kind", "name", "content_type", "begin"),
    [
        ("pdf", "INV-2026-0001.pdf", "application/pdf", b"%PDF-"),
        ("xrechnung", "INV-2026-0001-xrechnung.xml", "application/xml", b"<?xml"),
        ("peppol", "INV-2026-0001-peppol.xml", "application/xml", b"<?xml"),
    ],
)
def test_a_person_downloads_the_file_that_is_kept(reader, issued, kind, name, content_type, begin):
    first, second = reader.get(file_of(issued, kind)), reader.get(file_of(issued, kind))
    [kept] = Original.objects.all()
    assert (first.status_code, first.content, second.content) == (200, kept.content, kept.content)
    assert first.content.startswith(begin)
    told = {
        "Content-Type": content_type,
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Length": str(len(first.content)),
        "ETag": f'"{kept.digest}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    assert {header: first[header] for header in told} == told
    assert "default-src 'none'" in first["Content-Security-Policy"]
    downloaded = ("document:downloaded", str(issued.id), f"{kind} {kept.digest}")
    assert acts_written() == [downloaded] * 2


@pytest.mark.parametrize("kind", OriginalKind)
def test_what_a_client_has_is_neither_sent_nor_recorded_again(reader, issued, quick_pdf, kind):
    path = file_of(issued, kind)
    asked = reader.head(path)
    assert (asked.status_code, asked.content) == (200, b"")
    assert asked["Content-Disposition"].startswith("attachment")
    for method in (reader.get, reader.head):
        again = method(path, headers={"If-None-Match": asked["ETag"]})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", asked["ETag"])
    assert acts_written() == []
    assert reader.get(path, headers={"If-None-Match": '"another"'}).status_code == 200
    assert len(acts_written()) == 1


@pytest.mark.parametrize("kind", OriginalKind)
def test_who_may_not_see_a_document_gets_no_file_of_it(sign_in, stranger, issued, quick_pdf, kind):
    blind = make_staff(*(each for each in Permission if each != Permission.VIEW_DOCUMENT))
    for person, status in ((stranger, 404), (blind, 403)):
        answer = sign_in(person).get(file_of(issued, kind))
        assert (answer.status_code, str(issued) in main_of(answer)) == (status, False)
        assert "Content-Disposition" not in answer
    assert not Original.objects.exists()
    assert acts_written() == []


def test_who_loses_the_permission_while_the_file_is_made_gets_none(
    sign_in, issued, quick_pdf, monkeypatch
):
    reader = UserFactory.create(
        permissions=[Permission.VIEW_DOCUMENT, Permission.VIEW_ALL_CUSTOMERS]
    )

    def make_and_withdraw(*of: Any) -> Original:
        made = keeping.original_of(*of)
        withdraw(reader, Permission.VIEW_DOCUMENT)
        return made

    monkeypatch.setattr(originals, "original_of", make_and_withdraw)
    answer = sign_in(reader).get(file_of(issued, "pdf"))
    assert answer.status_code == 403
    assert PDF not in answer.content
    assert acts_written() == []


def test_a_customers_manager_gets_the_files_of_that_customer(sign_in, customer, issued, quick_pdf):
    manager = UserFactory.create(permissions=[Permission.VIEW_DOCUMENT])
    customer.account_managers.add(manager)
    desk = sign_in(manager)
    assert desk.get(file_of(issued, "pdf")).content == PDF
    assert desk.get(file_of(make_issued(), "pdf")).status_code == 404


def test_a_draft_has_a_pdf_that_nobody_keeps(reader, draft, quick_pdf):
    with nothing_changes():
        answer = reader.get(file_of(draft, "pdf"))
        others = [reader.get(file_of(draft, kind)).status_code for kind in ("xrechnung", "peppol")]
    assert (answer.content, answer["Cache-Control"]) == (PDF, "no-store")
    assert answer["Content-Disposition"] == f'attachment; filename="{draft.draft_code}.pdf"'
    assert others == [404, 404]
    digest = hashlib.sha256(PDF).hexdigest()
    assert acts_written() == [("document:downloaded", str(draft.id), f"pdf {digest}")]


@pytest.mark.parametrize(
    ("failure", "status"),
    [(PdfError("It took too long."), 503), (GlyphsMissingError("𓀀"), 409)],
    ids=["failing", "without a font"],
)
def test_a_pdf_that_cannot_be_made_is_told_and_changes_nothing(
    reader, draft, issued, monkeypatch, failure, status
):
    for document in (draft, issued):
        make_pdfs(monkeypatch, lambda: fail(failure))
        with nothing_changes():
            answer = reader.get(file_of(document, "pdf"))
        page, again = main_of(answer), f'href="{file_of(document, "pdf")}">Try again</a>'
        assert answer.status_code == status
        assert f"<h1> No PDF of {document} </h1> <p>{failure}</p>" in page
        assert (again in page) is (status == 503)
        assert f'href="/documents/{document.id}">Back to the document</a>' in page
        assert acts_written() == []
    make_pdfs(monkeypatch, lambda: PDF)
    assert reader.get(file_of(issued, "pdf")).content == PDF


def fail(failure: InvoicingError) -> None:
    raise failure


def test_reading_a_document_starts_no_process_and_makes_no_file(reader, draft, issued, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process starts"))
    with nothing_changes():
        pages = [reader.get(f"/documents/{document.id}") for document in (draft, issued)]
    assert [links_of(page) for page in pages] == [["PDF as draft"], ["PDF", "XRechnung", "Peppol"]]
    assert "The PDF has Factur-X (ZUGFeRD) inside." in files(pages[1])
    told = "Once issued, also as e-invoice: Factur-X (ZUGFeRD), XRechnung and Peppol BIS Billing."
    assert told in files(pages[0])
    assert [reasons_of(page) for page in pages] == [{}, {}]


def test_what_an_e_invoice_of_a_draft_lacks_is_named_until_it_is_mended(administrator, draft):
    rate = TaxRate.objects.get()
    Company.objects.update(iban="", phone="")
    Customer.objects.update(electronic_address="", electronic_address_scheme="")
    TaxRate.objects.update(category="")
    page = administrator.get(f"/documents/{draft.id}")
    category = "The tax rate “VAT standard” has no category yet."
    address = "The electronic address of the customer is missing: an address in the Peppol network."
    assert reasons_of(page) == {
        "Factur-X (ZUGFeRD)": [category],
        "XRechnung": [
            "The phone number of your company is missing.",
            "The IBAN of your company is missing.",
            "The customer needs an electronic address or an e-mail address.",
            category,
        ],
        "Peppol BIS Billing": [address, category],
    }
    company_link = f"/admin/invoices/company/{Company.objects.get().pk}/change/"
    customer_link = f"/admin/invoices/customer/{draft.customer_id}/change/"
    rate_link = f"/admin/invoices/taxrate/{rate.pk}/change/"
    links = re.findall(r'</bdi>|<a href="([^"]+)"', files(page))
    assert links == [rate_link, company_link, customer_link, rate_link, customer_link, rate_link]
    assert all(administrator.get(link).status_code == 200 for link in set(links))
    Company.objects.update(iban="DE02120300000000202051", phone="+49 40 123456")
    Customer.objects.update(electronic_address="12345678", electronic_address_scheme="0106")
    TaxRate.objects.update(category="S")
    assert reasons_of(administrator.get(f"/documents/{draft.id}")) == {}


def test_what_is_mended_in_the_draft_leads_to_it_whoever_may_edit(sign_in, customer, draft):
    """And to no page that the person may not open."""
    Customer.objects.update(buyer_reference="")
    Company.objects.update(phone="")
    link = f'<a href="/documents/{draft.id}/edit">Edit the draft</a>'
    for permissions, is_linked in ((ISSUER, True), (ISSUER[:1], False)):
        page = files(sign_in(make_staff(*permissions)).get(f"/documents/{draft.id}"))
        assert "A reference of the customer or a buyer reference is missing." in page
        assert (link in page, "/admin/" in page) == (is_linked, False)


def test_what_was_issued_without_a_fact_lacks_it_for_good(administrator, customer, lines):
    Company.objects.update(phone="")
    document = make_issued(customer=customer, lines=lines)
    Company.objects.update(phone="+49 40 123456")
    page = administrator.get(f"/documents/{document.id}")
    assert links_of(page) == ["PDF", "Peppol"]
    assert reasons_of(page) == {"XRechnung": [PHONE]}
    assert "It was frozen so when it was issued" in files(page)
    assert "/admin/" not in files(page)
    with nothing_changes():
        answer = administrator.get(file_of(document, "xrechnung"))
    assert answer.status_code == 409
    assert f"<h1> No XRechnung of {document} </h1>" in main_of(answer)
    assert PHONE in main_of(answer)
    assert "Try again" not in main_of(answer)
    assert acts_written() == []


def test_the_draft_of_a_credit_note_lacks_what_its_invoice_lacks(administrator, customer, lines):
    Company.objects.update(phone="")
    invoice = make_issued(customer=customer, lines=lines)
    Company.objects.update(phone="+49 40 123456")
    page = administrator.get(f"/documents/{make_correction(invoice).id}")
    assert reasons_of(page) == {"XRechnung": [PHONE]}
    assert "It has this from the invoice that it corrects." in files(page)
    assert "/admin/" not in files(page)


def test_a_currency_with_three_decimals_has_a_pdf_only_and_the_page_says_why(
    reader, customer, lines
):
    document = make_issued(customer=customer, lines=lines, currency_code="KWD")
    page = reader.get(f"/documents/{document.id}")
    [(kinds, [reason])] = reasons_of(page).items()
    assert links_of(page) == ["PDF"]
    assert kinds == "Factur-X (ZUGFeRD), XRechnung or Peppol BIS Billing"
    assert reason.endswith("a currency of this document has more: there is a PDF only.")


def test_what_hides_in_the_name_of_a_rate_is_shown(reader, draft):
    TaxRate.objects.update(category="", name="VAT\u202e <b>")
    page = files(reader.get(f"/documents/{draft.id}"))
    assert "U+202E" in page
    assert ("\u202e" in page, "<b>" in page) == (False, False)


def test_why_there_are_no_e_invoices_costs_the_page_one_statement(sign_in, draft):
    desk = sign_in(make_staff(*ISSUER))
    counts = []
    for kept in ({}, {"phone": "", "contact_name": "", "country": "", "iban": ""}):
        Company.objects.update(**kept)
        with CaptureQueriesContext(database) as captured:
            desk.get(f"/documents/{draft.id}")
        counts.append(len(captured))
    assert counts[1] - counts[0] <= 1


WANTED = "For the e-invoice that the customer wants, XRechnung, this is missing:"


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("wanted", "is_warned"), [("xrechnung", True), ("factur-x", False), ("", False)]
)
def test_what_the_wanted_e_invoice_lacks_is_warned_of_and_forbids_nothing(
    desk, delegate, customer, lines, wanted, is_warned
):
    """What a customer wants is no fact of the draft: what was prepared before stays valid."""
    Company.objects.update(phone="")
    draft = make_draft(user=delegate, customer=customer, lines=lines)
    prepared = prepare(draft, user=delegate)
    Customer.objects.update(e_invoice=wanted)
    by_hand = f"/documents/{draft.id}/issue"
    for path in (by_hand, path_of(prepared)):
        page = read(desk.get(path))
        assert (f"{WANTED} {PHONE}" in page) is is_warned
        assert (PHONE in page) is is_warned
    fingerprint = prepared.approval.fingerprint
    assert desk.post(by_hand, {"fingerprint": fingerprint}).status_code == 302
    assert Document.objects.get().is_issued


def test_what_the_law_and_the_wanted_e_invoice_want_is_said_once(administrator, customer, lines):
    Company.objects.update(country="", iban="", vat_number="")
    Customer.objects.update(e_invoice="factur-x", vat_number="")
    TaxRate.objects.update(category="K", percentage_ten_thousandths=0)
    supply = make_draft(customer=customer, lines=lines)
    wanted = "For the e-invoice that the customer wants, Factur-X (ZUGFeRD), this is missing:"
    bank = "The bank details of your company are missing. Change the company"
    country = "The country of your company is missing."
    number = "The VAT number or the tax number of your company is missing."
    of_supply = (
        "The VAT number of your company is missing. Change the company The VAT number of the"
        " customer is missing. Change the customer The date of supply is missing: goods go to"
        " another country. The country of delivery is missing: goods go to another country."
    )
    told = f"{bank} {wanted} {country} {number} {of_supply} Edit the draft"
    assert warnings_about(supply, administrator) == told
    TaxRate.objects.update(category="")
    draft = make_draft(customer=customer, lines=(*lines, line_input()))
    rate = "The tax rate “VAT standard” has no category yet. Change the tax rate"
    untaxed = "A line without a tax rate has no category yet."
    assert warnings_about(draft, administrator) == (
        f"{bank} {wanted} {untaxed} {country} {number} Change the company {rate}"
    )


def warnings_about(draft: Document, desk: Any) -> str:
    page = read(desk.get(f"/documents/{draft.id}/issue"))
    first = "Please check: No invoice has been issued to this customer yet. "
    warnings = page.partition(first)[2].partition(" Invoice (Draft)")[0]
    return warnings.partition(" It gets the number")[0]
