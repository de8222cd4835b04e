"""Whom the company invoices."""

from typing import ClassVar, Self

from django.db import models
from django.db.models.functions import Lower
from typing_extensions import override

from invoicing.access import Permission
from invoicing.models.people import User
from invoicing.models.records import Party, RecordQuerySet


class CustomerQuerySet(RecordQuerySet["Customer"]):
    def visible_to(self, user: User) -> Self:
        """Return those in the user's scope, inactive ones too."""
        if user.has_perm(Permission.VIEW_ALL_CUSTOMERS):
            return self
        managed = Customer.account_managers.through.objects.filter(user_id=user.pk)
        return self.filter(pk__in=managed.values("customer_id"))


class Customer(Party):
    """A customer, visible to its account managers and to those who may see all customers."""

    is_active = models.BooleanField(default=True)
    account_managers = models.ManyToManyField(User, blank=True, related_name="managed_customers")

    objects: ClassVar[CustomerQuerySet] = CustomerQuerySet.as_manager()  # type: ignore[assignment]  # a manager of it

    class Meta:
        indexes = [models.Index(Lower("name"), "id", name="customer_by_name")]
        permissions = [("view_all_customers", "Can see all customers and their documents")]

    @override
    def __str__(self) -> str:
        return self.name
