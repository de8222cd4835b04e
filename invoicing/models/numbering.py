"""The series from which documents take their numbers."""

from django.db import models
from typing_extensions import override

from invoicing.models.records import Record


class DocumentType(models.TextChoices):
    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note"


class NumberSeries(Record):
    """The numbers of one type of document in one year; `last_value` was given last."""

    type = models.CharField(max_length=11, choices=DocumentType)
    year = models.PositiveSmallIntegerField()
    last_value = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "number series"
        constraints = [
            models.UniqueConstraint(fields=["type", "year"], name="number_series_type_year"),
            models.CheckConstraint(
                condition=models.Q(type__in=DocumentType.values), name="number_series_type"
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.get_type_display()} {self.year}"
