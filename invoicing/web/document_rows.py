"""What a row says of a document, in each list of documents."""

from typing import Any

from invoicing.languages import page_language
from invoicing.models import Document
from invoicing.paper.formats import Formats


def describe_row(document: Document) -> dict[str, Any]:
    """Return a document with its dates and its total as people read them."""
    formats = Formats(page_language(), document.currency_code, document.minor_unit)
    return {
        "document": document,
        "issue_date": formats.short_day(document.issue_date),
        "due_date": formats.short_day(document.due_date),
        "grand_total": formats.money(document.grand_total),
    }
