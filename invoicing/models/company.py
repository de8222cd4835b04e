"""The company that invoices; an installation has one."""

from django.db import models
from typing_extensions import override

from invoicing.models.people import User
from invoicing.models.records import Party


class Company(Party):
    """The seller on every invoice; its owner is the owner of the installation."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    iban = models.CharField("IBAN", max_length=34, blank=True, default="")
    bic = models.CharField("BIC", max_length=11, blank=True, default="")
    # Unique, and true in every row: the database refuses a second company.
    is_only_one = models.BooleanField(default=True, unique=True, editable=False)

    class Meta:
        verbose_name_plural = "company"
        constraints = [
            models.CheckConstraint(condition=models.Q(is_only_one=True), name="company_only_one"),
        ]

    @override
    def __str__(self) -> str:
        return self.name
