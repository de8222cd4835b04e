"""The tax rates that lines may carry."""

from django.db import models
from typing_extensions import override

from invoicing.fixed_point import format_fixed_point
from invoicing.models.records import Record
from invoicing.totals import HUNDRED_PERCENT, TaxFacts


class TaxRate(Record):
    """A tax rate; services.taxes replaces it instead of changing its name or percentage."""

    name = models.CharField(max_length=100)
    percentage_ten_thousandths = models.PositiveIntegerField(
        "percentage", help_text="In ten-thousandths of a percent: 190000 is 19 %."
    )
    is_active = models.BooleanField(default=True)

    class Meta:
        constraints = [
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
