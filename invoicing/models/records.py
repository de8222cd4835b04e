"""What all records share."""

from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.electronic_addresses import LEITWEG_ID, is_leitweg_id, is_number_of_scheme
from invoicing.errors import RecordNotFoundError
from invoicing.identifiers import new_id
from invoicing.languages import name_of_country, page_language

NO_SCHEME = _("Choose what this electronic address is.")
NO_ADDRESS = _("Write the electronic address, or choose no scheme.")
NO_LEITWEG_ID = _("This is not a Leitweg-ID. Compare it with the one that the authority gave you.")
NO_NUMBER = _(
    "This is not a number of the kind that you chose: compare it, and write its digits alone."
)

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
    """A party to an invoice, seller or buyer: a name, a postal address, and what identifies it.

    The scheme of the electronic address is a code of the EAS list, such as "9930" or "EM".
    """

    # What an invoice prints in one text, the address, and what else of a party is frozen with it.
    ADDRESS_PARTS: ClassVar[tuple[str, ...]] = (
        *("street", "address_line", "postcode", "city", "region", "country"),
    )
    OTHER_PARTS: ClassVar[tuple[str, ...]] = (
        *("tax_number", "email", "electronic_address", "electronic_address_scheme"),
    )

    name = models.CharField(max_length=200)
    street = models.CharField(max_length=200, blank=True, default="")
    address_line = models.CharField(
        _("further address line"), max_length=200, blank=True, default="", db_default=""
    )
    postcode = models.CharField(max_length=20, blank=True, default="")
    city = models.CharField(max_length=100, blank=True, default="")
    region = models.CharField(max_length=100, blank=True, default="", db_default="")
    country = models.CharField(
        max_length=2, blank=True, default="", help_text=_("Two letters (ISO 3166).")
    )
    vat_number = models.CharField(_("VAT number"), max_length=20, blank=True, default="")
    tax_number = models.CharField(max_length=40, blank=True, default="", db_default="")
    email = models.EmailField(_("e-mail address"), blank=True, default="", db_default="")
    electronic_address = models.CharField(max_length=200, blank=True, default="", db_default="")
    electronic_address_scheme = models.CharField(
        max_length=4, blank=True, default="", db_default=""
    )

    class Meta:
        abstract = True

    @property
    def country_name(self) -> str:
        """The country's name in the language of the pages."""
        return name_of_country(self.country, page_language())

    @override
    def clean(self) -> None:
        """Refuse an electronic address without its scheme, the reverse, and a mistyped address."""
        scheme, address = self.electronic_address_scheme, self.electronic_address
        if address and not scheme:
            raise ValidationError({"electronic_address_scheme": NO_SCHEME})
        if scheme and not address:
            raise ValidationError({"electronic_address": NO_ADDRESS})
        if scheme == LEITWEG_ID and not is_leitweg_id(address):
            raise ValidationError({"electronic_address": NO_LEITWEG_ID})
        if not is_number_of_scheme(address, scheme):
            raise ValidationError({"electronic_address": NO_NUMBER})

    def format_address(self, language: str) -> str:
        """Return the postal address as on an invoice in a language: street, place, country."""
        place = f"{self.postcode} {self.city}".strip()
        country = name_of_country(self.country, language)
        lines = (self.street, self.address_line, place, self.region, country)
        return "\n".join(line for line in lines if line)

    def parts(self) -> dict[str, Any]:
        """Return the parts that are set, by name."""
        return self.other_parts() | _set_values(self, self.ADDRESS_PARTS)

    def other_parts(self) -> dict[str, Any]:
        """Return the parts that are set and not in the address, by name."""
        return _set_values(self, self.OTHER_PARTS)


def _set_values(record: models.Model, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(record, name))}
