"""Whom the company invoices."""

from django.db import models
from django.db.models.functions import Lower
from typing_extensions import override

from invoicing.models.people import User
from invoicing.models.records import Party


class Customer(Party):
    """A customer, visible to its account managers and to those who may see all customers."""

    is_active = models.BooleanField(default=True)
    account_managers = models.ManyToManyField(User, blank=True, related_name="managed_customers")

    class Meta:
        indexes = [models.Index(Lower("name"), "id", name="customer_by_name")]
        permissions = [("view_all_customers", "Can see all customers and their documents")]

    @override
    def __str__(self) -> str:
        return self.name
