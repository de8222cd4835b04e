"""The words on a document: all of them, in every language that a document can have."""

import re

import pytest

from config.environment import PROJECT_FOLDER
from invoicing.models import DocumentType
from invoicing.web.paper_labels import LANGUAGES, labels_in

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


def test_every_language_of_a_document_has_its_words(settings):
    assert {code for code, _ in settings.LANGUAGES} == set(LANGUAGES)


def test_the_sheet_names_no_word_that_is_not_there():
    """Django would show nothing in its place."""
    sheet = (PROJECT_FOLDER / "templates/invoicing/paper.html").read_text(encoding="utf-8")
    named = set(re.findall(r"paper\.labels\.(\w+)", sheet))
    assert named | {*DocumentType.values} == set(labels_in("en"))
