"""The tax rates that lines may carry."""

from typing import Any

from django.db import models
from django.db.models import Q, Value
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.fixed_point import format_fixed_point
from invoicing.models.records import Record
from invoicing.totals import HUNDRED_PERCENT, TaxFacts


class TaxCategory(models.TextChoices):
    """The category of a rate in the law of VAT, by its code in EN 16931 (BT-151)."""

    STANDARD = "S", _("Taxed")
    ZERO = "Z", _("Zero rate")
    EXEMPT = "E", _("Exempt")
    REVERSE_CHARGE = "AE", _("Reverse charge")
    INTRA_COMMUNITY = "K", _("Intra-community supply")
    EXPORT = "G", _("Export outside the EU")
    OUTSIDE_SCOPE = "O", _("Outside the scope of VAT")


FREE_OF_TAX = [each for each in TaxCategory.values if each != TaxCategory.STANDARD]


def texts_by_language() -> "models.JSONField[Any, Any]":
    """Return a field of texts by language, such as {"de": "Steuerfreie Ausfuhrlieferung"}."""
    return models.JSONField(
        blank=True, default=dict, db_default=Value({}, models.JSONField()), editable=False
    )


class TaxRate(Record):
    """A tax rate; services.taxes replaces it instead of changing its name or percentage.

    The category is empty until a person has chosen one. `names` are printed instead of the name, by
    the document's language, and `reasons` say why less tax or none is charged.
    """

    name = models.CharField(max_length=100)
    percentage_ten_thousandths = models.PositiveIntegerField(
        _("percentage"), help_text=_("In ten-thousandths of a percent: 190000 is 19 %.")
    )
    is_active = models.BooleanField(default=True)
    category = models.CharField(
        max_length=2, choices=TaxCategory, blank=True, default="", db_default=""
    )
    names = texts_by_language()
    reasons = texts_by_language()
    revenue_account = models.CharField(max_length=8, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(category="")
                | Q(category=TaxCategory.STANDARD, percentage_ten_thousandths__gt=0)
                | Q(
                    category__in=FREE_OF_TAX,
                    percentage_ten_thousandths=0,
                ),
                name="tax_rate_category",
            ),
            models.CheckConstraint(
                condition=models.Q(percentage_ten_thousandths__range=(0, HUNDRED_PERCENT)),
                name="tax_rate_percentage_range",
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.name} ({self.percentage} %)"

    @property
    def percentage(self) -> str:
        """The percentage as people write it: "19", "8.875"."""
        return format_fixed_point(self.percentage_ten_thousandths)

    @property
    def facts(self) -> TaxFacts:
        """The rate as a document keeps it."""
        return TaxFacts(id=self.id, name=self.name, percentage=self.percentage_ten_thousandths)
