"""The series from which documents take their numbers."""

from django.db import models
from typing_extensions import override

from invoicing.models.records import Record

MOST_DIGITS = 10


class DocumentType(models.TextChoices):
    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note"


class NumberFormat(Record):
    """How numbers of one type of document are written, once the owner has chosen it.

    "INV-", with the year and 4 digits, makes INV-2026-0001.
    """

    type = models.CharField(max_length=11, choices=DocumentType, unique=True)
    prefix = models.CharField(max_length=12)
    has_year = models.BooleanField("with the year", default=True)
    digits = models.PositiveSmallIntegerField("least digits", default=4)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(type__in=DocumentType.values), name="number_format_type"
            ),
            models.CheckConstraint(
                condition=models.Q(digits__range=(1, MOST_DIGITS)), name="number_format_digits"
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"Numbers of {self.get_type_display().lower()}s"


class NumberSeries(Record):
    """The numbers of one type of document in one year; `last_value` was given last.

    Numbers without a year are one series for ever, whose year is 0.
    """

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
