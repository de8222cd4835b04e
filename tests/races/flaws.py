"""What is wrong with what is stored, whoever did what in whichever order."""

from collections.abc import Iterator

from agent_access.verification import find_breaks
from invoicing.models import Customer, Document, NumberSeries
from invoicing.models.search_words import SearchWord
from invoicing.services.search_words import rows_of_customer, rows_of_document


def find_flaws() -> list[str]:
    """Return what is wrong with what is stored now: chains, numbers, and the words of searches."""
    flaws = [f"chain {each}" for each in find_breaks()]
    flaws += _find_number_flaws()
    if _read_words() != _find_words():
        flaws.append("searches find by other words than the records have")
    return flaws


def _find_number_flaws() -> Iterator[str]:
    """Yield each series whose numbers are not those up to its last, once each."""
    for series in NumberSeries.objects.all():
        issued = Document.objects.filter(series=series).order_by("series_value")
        values = [each or 0 for each in issued.values_list("series_value", flat=True)]
        if values and values != [*range(values[0], series.last_value + 1)]:
            yield f"numbers {values} of {series.type}, whose last is {series.last_value}"


def _read_words() -> set[tuple[bytes, ...]]:
    rows = SearchWord.objects.values_list("word", "customer", "record")
    return {tuple(map(bytes, row)) for row in rows}


def _find_words() -> set[tuple[bytes, ...]]:
    of_customers = map(rows_of_customer, Customer.objects.all())
    of_documents = map(rows_of_document, Document.objects.select_related("customer"))
    return {tuple(row) for rows in (*of_customers, *of_documents) for row in rows}
