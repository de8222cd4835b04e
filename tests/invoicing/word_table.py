"""The word table as it is, and as the records say that it should be."""

from invoicing.models import Customer, Document, SearchWord
from invoicing.search.table import Row
from invoicing.services.search_words import rows_of_customer, rows_of_document


def kept_rows() -> set[Row]:
    rows = SearchWord.objects.values_list("word", "customer", "record")
    return {Row(bytes(word), bytes(customer), bytes(record)) for word, customer, record in rows}


def true_rows() -> set[Row]:
    """Return what the table should hold, from the records as they are."""
    rows = {row for each in Customer.objects.all() for row in rows_of_customer(each)}
    documents = Document.objects.select_related("customer")
    return rows | {row for each in documents for row in rows_of_document(each)}
