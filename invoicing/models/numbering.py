"""The series from which documents take their numbers."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.models.records import Record
from invoicing.number_formats import MOST_DIGITS, NumberStyle


class DocumentType(models.TextChoices):
    INVOICE = "invoice", _("Invoice")
    CREDIT_NOTE = "credit_note", _("Credit Note")


class NumberFormat(Record):
    """How numbers of one type of document are written: made by its first number, or by the owner.

    Issuing locks it before the series, so that no number is given while it changes. `issued_totals`
    adds up what was issued, as services/issued_totals.py keeps it; None until it first does.
    """

    type = models.CharField(max_length=11, choices=DocumentType, unique=True)
    prefix = models.CharField(max_length=12, blank=True)
    has_year = models.BooleanField(_("with the year"), default=True)
    digits = models.PositiveSmallIntegerField(_("least digits"), default=4)
    issued_totals = models.JSONField(null=True, blank=True, editable=False)

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

    @property
    def style(self) -> NumberStyle:
        return NumberStyle(self.prefix, self.has_year, self.digits)

    def series_year(self, year: int) -> int:
        """Return the year of the series of documents that are dated in this year."""
        return year if self.has_year else 0


class NumberSeries(Record):
    """The numbers of one type of document in one year; `last_value` was given last.

    Numbers without a year are one series for ever, whose year is 0.
    """

    type = models.CharField(max_length=11, choices=DocumentType)
    year = models.PositiveSmallIntegerField()
    last_value = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = _("numbers")
        constraints = [
            models.UniqueConstraint(fields=["type", "year"], name="number_series_type_year"),
            models.CheckConstraint(
                condition=models.Q(type__in=DocumentType.values), name="number_series_type"
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.get_type_display()} {self.year}"
