"""The words on a document: all of them, in every language that a document can have."""

import re

import pytest

from config.environment import PROJECT_FOLDER
from invoicing.draft_fields import DRAFT_TEXTS
from invoicing.models import DocumentType
from invoicing.models.company import UNTAXED
from invoicing.paper.labels import LANGUAGES, labels_in, swiss_labels_in
from invoicing.paper.layout import BUYER_DETAILS, SELLER_DETAILS

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


def read(name: str) -> str:
    return (PROJECT_FOLDER / name).read_text(encoding="utf-8")


def test_every_language_of_a_document_has_its_words(settings):
    assert {code for code, _ in settings.DOCUMENT_LANGUAGES} == set(LANGUAGES)


def test_the_sheet_names_no_word_that_is_not_there():
    """Django would show nothing in its place."""
    sheet, layout = read("templates/invoicing/paper.html"), read("invoicing/paper/layout.py")
    in_lines = re.findall(r"paper\.labels\.(\w+)", read("templates/invoicing/paper_line.html"))
    in_pdf = re.findall(r"[^.]labels\.([a-z]\w+)(?!\w*\()", read("invoicing/pdf/document.typ"))
    named = {
        *re.findall(r"paper\.labels\.(\w+)", sheet),
        *in_lines,
        *in_pdf,
        *re.findall(r'labels\["(\w+)"\]', layout),
        *(*SELLER_DETAILS, *BUYER_DETAILS, *DRAFT_TEXTS),
        *DocumentType.values,
        *(f"untaxed_{category}" for category in UNTAXED),
    }
    assert named == set(labels_in("en"))


def test_a_swiss_payment_part_names_no_word_that_is_not_there():
    named = set()
    for name in ("payment", "parties", "amount"):
        sheet = read(f"templates/invoicing/swiss_{name}.html")
        named |= set(re.findall(r"bill\.labels\.(\w+)", sheet))
    assert named == set(swiss_labels_in("de"))
    assert swiss_labels_in("es") == swiss_labels_in("en")
