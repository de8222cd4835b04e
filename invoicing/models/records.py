"""What all records share."""

from django.db import models

from invoicing.identifiers import new_id


class Record(models.Model):
    """A row whose identifier tells when it was made, not how many there are."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta:
        abstract = True


class Addressed(Record):
    """A party to an invoice: a name, a postal address and a VAT number."""

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
    def postal_address(self) -> str:
        """The address as it stands on an invoice, one line each for street, place, country."""
        place = f"{self.postcode} {self.city}".strip()
        return "\n".join(line for line in (self.street, place, self.country) if line)
