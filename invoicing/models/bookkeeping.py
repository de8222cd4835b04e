"""How bookings are handed to a tax adviser who uses DATEV."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from typing_extensions import override


class DatevSettings(models.Model):
    """The numbers that a DATEV adviser gave; an installation has at most one row.

    `accounts` has the revenue account of each tax category; a tax rate may have one of its own.
    """

    adviser = models.PositiveIntegerField()
    client = models.PositiveIntegerField()
    year_begins = models.PositiveSmallIntegerField(_("first month of the fiscal year"), default=1)
    account_length = models.PositiveSmallIntegerField(_("digits of an account"), default=4)
    accounts = models.JSONField(blank=True, default=dict)

    class Meta:
        verbose_name = _("DATEV settings")
        verbose_name_plural = _("DATEV settings")

    @override
    def __str__(self) -> str:
        return f"{self.adviser}/{self.client}"
