"""What all records share."""

from typing import TypeVar
from uuid import UUID

from django.db import models

from invoicing.errors import RecordNotFoundError
from invoicing.identifiers import new_id
from invoicing.languages import APPLICATION_LANGUAGE, name_of_country

_Record = TypeVar("_Record", bound=models.Model)


class RecordQuerySet(models.QuerySet[_Record]):
    """Records of one kind. What a user may see is a queryset: `visible_to(user)`."""

    def find(self, pk: UUID) -> _Record:
        """Return the record; raises RecordNotFoundError where it is missing, hidden or left out."""
        for record in self.filter(pk=pk):
            return record
        raise RecordNotFoundError


class Record(models.Model):
    """A row with a UUIDv7 as ID: it tells when the row was made, but not how many there are."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta:
        abstract = True


class Party(Record):
    """A party to an invoice, seller or buyer: a name, a postal address and a VAT number."""

    name = models.CharField(max_length=200)
    street = models.CharField(max_length=200, blank=True, default="")
    postcode = models.CharField(max_length=20, blank=True, default="")
    city = models.CharField(max_length=100, blank=True, default="")
    country = models.CharField(
        max_length=2, blank=True, default="", help_text="Two letters (ISO 3166)."
    )
    vat_number = models.CharField("VAT number", max_length=20, blank=True, default="")

    class Meta:
        abstract = True

    @property
    def country_name(self) -> str:
        """The country's name in the language of the pages."""
        return name_of_country(self.country, APPLICATION_LANGUAGE)

    def format_address(self, language: str) -> str:
        """Return the postal address as on an invoice in a language: street, place, country."""
        place = f"{self.postcode} {self.city}".strip()
        country = name_of_country(self.country, language)
        return "\n".join(line for line in (self.street, place, country) if line)
