"""What the PDF of a document holds, as independent readers of PDFs see it."""

import re
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pikepdf
import pypdfium2
import pytest
import zxingcpp
from facturx import get_level, get_xml_from_pdf
from lxml import etree
from PIL import Image, ImageChops
from pypdf import PdfReader

from invoicing.pdf.making import make_pdf
from tests.factories import CompanyFactory, CustomerFactory, make_draft
from tests.invoicing.pdf.conftest import ARABIC, HEBREW, LONG_WORD, MARKUP, SCRIPTS

# A PDF is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

FACTUR_X = "{urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#}"
GUIDELINE = ".//{*}GuidelineSpecifiedDocumentContextParameter/{*}ID"
MM = 25.4


def copy_pages(pdf: bytes) -> list[str]:
    """Return the text of each page, as the viewer of Chrome copies it."""
    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf)]


def copy_lines(pdf: bytes) -> list[str]:
    return "\n".join(copy_pages(pdf)).replace("\r", "").split("\n")


def scan(pdf: bytes, *, dots_per_inch: int = 150) -> tuple[str, list[float]]:
    """Return what a phone reads from the code on the last page, and in mm its edges."""
    *_, page = pypdfium2.PdfDocument(pdf)
    picture = page.render(scale=dots_per_inch / 72).to_pil().convert("L")
    [code] = zxingcpp.read_barcodes(picture)
    first, last = code.position.top_left, code.position.bottom_right
    edges = (first.x, first.y, last.x, last.y)
    return code.text, [edge / dots_per_inch * MM for edge in edges]


@pytest.mark.parametrize("name", ["invoice", "hundred", "draft", "swiss"])
def test_a_pdf_is_pdf_a_3b_with_every_font_inside(pdfs, name):
    opened = pikepdf.open(BytesIO(pdfs[name]))
    assert opened.check_pdf_syntax() == []
    assert not opened.is_encrypted
    with opened.open_metadata() as metadata:
        assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"]) == ("3", "B")
    [intent] = opened.Root.OutputIntents
    assert str(intent.S) == "/GTS_PDFA1"
    assert "/DestOutputProfile" in intent
    fonts = [each for each in opened.objects if is_font_descriptor(each)]
    assert len(fonts) >= 2
    assert all(font.keys() & {"/FontFile", "/FontFile2", "/FontFile3"} for font in fonts)
    assert not [each for each in opened.objects if is_script(each)]


def is_font_descriptor(each: Any) -> bool:
    return isinstance(each, pikepdf.Dictionary) and each.get("/Type") == "/FontDescriptor"


def is_script(each: Any) -> bool:
    return isinstance(each, pikepdf.Dictionary) and each.get("/S") in {"/JavaScript", "/Launch"}


def test_the_e_invoice_is_inside_as_factur_x_wants_it(pdfs):
    opened = pikepdf.open(BytesIO(pdfs["invoice"]))
    [file] = opened.Root.AF
    assert str(file.AFRelationship) == "/Alternative"
    assert {str(file.F), str(file.UF)} == {"factur-x.xml"}
    assert file.EF.F.Subtype == "/text/xml"
    assert file.EF.F.read_bytes() == pdfs["xml"]
    assert list(opened.attachments) == ["factur-x.xml"]
    with opened.open_metadata() as metadata:
        told = {name.removeprefix(FACTUR_X): text for name, text in metadata.items()}
    assert told.items() >= {
        ("DocumentType", "INVOICE"),
        ("DocumentFileName", "factur-x.xml"),
        ("Version", "1.0"),
        ("ConformanceLevel", "EN 16931"),
    }
    xmp = opened.Root.Metadata.read_bytes().decode()
    assert f"<pdfaSchema:namespaceURI>{FACTUR_X[1:-1]}</pdfaSchema:namespaceURI>" in xmp
    assert etree.fromstring(pdfs["xml"]).findtext(GUIDELINE) == "urn:cen.eu:en16931:2017"
    # A program that knows nothing of us finds it, and takes it for the same profile.
    name, xml = get_xml_from_pdf(pdfs["invoice"], check_xsd=True)
    assert (name, xml) == ("factur-x.xml", pdfs["xml"])
    assert get_level(etree.fromstring(xml)) == "en16931"


def test_without_an_e_invoice_the_pdf_claims_none(pdfs):
    opened = pikepdf.open(BytesIO(pdfs["hundred"]))
    assert "/AF" not in opened.Root
    assert b"factur-x" not in opened.Root.Metadata.read_bytes()


def test_the_pdf_says_what_it_is_and_has_the_time_of_issuing(pdfs):
    told = PdfReader(BytesIO(pdfs["invoice"])).metadata
    assert told
    assert (told.title, told.author) == ("Invoice INV-2026-0001", "Halden Works")
    assert told.creation_date == datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
    for name, language in (("invoice", "en"), ("draft", "de")):
        opened = pikepdf.open(BytesIO(pdfs[name]))
        assert str(opened.Root.Lang) == language


def test_texts_of_every_script_are_copied_as_they_were_typed(pdfs):
    lines = copy_lines(pdfs["invoice"])
    typed = [f"{text} 2 50.00 19% 100.00" for text in SCRIPTS.values()]
    assert [line for line in lines if line in typed] == typed
    assert HEBREW in "\n".join(lines)
    # Viewers put the words of a line in order, and each word is whole.
    words = PdfReader(BytesIO(pdfs["invoice"])).pages[0].extract_text()
    assert [word for word in ARABIC.split() if word not in words] == []


def test_markup_is_printed_as_it_is_and_what_is_invisible_is_named(pdfs):
    copied = " ".join(copy_lines(pdfs["invoice"]))
    assert MARKUP.replace("\u202e", "U+202E ") in copied


def test_a_word_longer_than_a_line_is_not_cut_off(pdfs):
    assert LONG_WORD in "".join(copy_lines(pdfs["invoice"]))


def test_marks_of_one_text_reach_no_other():
    CompanyFactory.create()

    def draw(street: str) -> tuple[Image.Image, float]:
        """Return the page, and in points from its head where the name above the street ends."""
        customer = CustomerFactory.create(name="Neighbour", street=street, city="Town")
        page = pypdfium2.PdfDocument(make_pdf(make_draft(customer=customer)))[0]
        index, count = page.get_textpage().search("Neighbour").get_next()
        foot = page.get_textpage().get_charbox(index + count - 1)[1]
        picture = page.render().to_pil()
        return picture, picture.height - foot

    plain, edge = draw("mp")
    piled, _ = draw(f"m{4 * chr(0x30B)}p")
    changed = ImageChops.difference(plain, piled).getbbox()
    assert changed is not None
    assert changed[1] > edge


def test_every_page_is_named_numbered_and_begins_with_the_names_of_the_columns(pdfs):
    pages = [" ".join(page.split()) for page in copy_pages(pdfs["hundred"])]
    assert len(pages) == 4
    for number, page in enumerate(pages, start=1):
        assert page.startswith(f"Invoice INV-2026-0002 Page {number} of 4 ")
        assert page.count("Description Quantity Unit price Tax Amount") == 1
    printed = [int(number) for number in re.findall(r"Service (\d+)", " ".join(pages))]
    assert printed == list(range(1, 101))
    assert [page for page in pages if "Net total" in page] == pages[-1:]
    assert "Service 100" in pages[-1]
    assert pages[-1].endswith("Managing director: Olivia Owner")


def test_every_page_of_a_draft_says_that_it_is_one(pdfs):
    pages = copy_pages(pdfs["draft"])
    assert len(pages) == 3
    for page in pages:
        assert "Entwurf" in page.split()
        assert "Rechnung (Entwurf)" in page
    assert "IBAN" not in pages[-1]
    assert "Entwurf" not in "".join(copy_pages(pdfs["hundred"]))


def test_a_phone_reads_how_to_pay(pdfs):
    text, _ = scan(pdfs["invoice"])
    assert text.split("\n") == [
        *("BCD", "002", "1", "SCT", "BYLADEM1001", "Halden Works", "DE02120300000000202051"),
        *("EUR1309", "", "", "INV-2026-0001"),
    ]


def test_a_swiss_payment_part_has_its_texts_its_size_and_its_place(pdfs):
    text, edges = scan(pdfs["swiss"])
    assert text.split("\n")[:4] == ["SPC", "0200", "1", "CH9300762011623852957"]
    # In mm, of a sheet that is 297 high: the part is 105 high, and the code 46.
    assert edges == pytest.approx([67, 209, 113, 255], abs=0.5)
    part = " ".join(copy_pages(pdfs["swiss"])[-1].split())
    account = "Konto / Zahlbar an CH93 0076 2011 6238 5295 7 Halden Werkstätten AG"
    creditor = f"{account} Limmatquai 12 8001 Zürich"
    debtor = "Zahlbar durch Müller AG Kramgasse 4 3011 Bern"
    sums = "Währung CHF Betrag 100.00"
    assert part.split("Vor der Einzahlung abzutrennen ")[1] == (
        f"Empfangsschein {creditor} {debtor} {sums} Annahmestelle Zahlteil {sums}"
        f" {creditor} Zusätzliche Informationen INV-2026-0003 {debtor}"
    )
