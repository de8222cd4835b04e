"""The word table: by which words each record is found."""

from django.db import models


class SearchWord(models.Model):
    """A prefix of a word by which one record is found (ADR 14).

    All columns are bytes, so that both databases order them alike, whatever the collation. `word`
    is a letter for the kind of record, then the prefix in UTF-8; `record` the 16 bytes of its ID;
    `customer` the last 4 bytes of the ID of its customer, or of its own if it is a customer. There
    are no foreign keys: a row only proposes a record, which the search then reads and compares.
    """

    pk = models.CompositePrimaryKey("word", "record")
    word = models.BinaryField()
    customer = models.BinaryField()
    record = models.BinaryField()

    class Meta:
        indexes = [
            models.Index(fields=["word", "customer", "record"], name="search_word_by_customer")
        ]
