"""The word table: by which words each record is found."""

from django.db import models


class SearchWord(models.Model):
    """One beginning of a word of a record, in the order in which a search walks.

    All columns are bytes (words in UTF-8 behind a letter for the kind of record, identifiers as
    their 16 bytes), so that both databases compare them alike, whatever the collation. Of the
    customer the last bytes are enough; a record that is a customer is its own. No foreign keys: a
    row only proposes a record, and who searches reads it again.
    """

    pk = models.CompositePrimaryKey("word", "record")
    word = models.BinaryField()
    customer = models.BinaryField()
    record = models.BinaryField()

    class Meta:
        indexes = [
            models.Index(fields=["word", "customer", "record"], name="search_word_by_customer")
        ]
