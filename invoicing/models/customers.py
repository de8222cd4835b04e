"""Whom the company invoices."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import F, Q, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Lower, Replace, Upper
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.access import Permission
from invoicing.draft_fields import BUYER_REFERENCE_LENGTH
from invoicing.e_invoices.kinds import Kind
from invoicing.models.people import User
from invoicing.models.records import Party, RecordQuerySet


def compact_vat() -> Combinable:
    """Return the expression of a VAT number without separators, as compact_vat_number() writes it.

    An index has it.
    """
    compact: Combinable = F("vat_number")
    for separator in " .,/-":
        compact = Replace(compact, Value(separator), Value(""))
    return Upper(compact)


class CustomerQuerySet(RecordQuerySet["Customer"]):
    def visible_to(self, user: User) -> Self:
        """Return those in the user's scope, inactive ones too."""
        if user.has_perm(Permission.VIEW_ALL_CUSTOMERS):
            return self
        managed = Customer.account_managers.through.objects.filter(user_id=user.pk)
        return self.filter(pk__in=managed.values("customer_id"))


class Customer(Party):
    """A customer, visible to its account managers and to those who may see all customers.

    Its language, currency and days to pay are those of new drafts, unless something else is chosen;
    its buyer reference (a Leitweg-ID for German authorities) is that of drafts without their own.
    `e_invoice` is the kind of e-invoice that it wants. Who issues or approves a document for one
    that `is_watched` is always warned.
    """

    OTHER_PARTS: ClassVar[tuple[str, ...]] = (*Party.OTHER_PARTS, "customer_number")

    customer_number = models.CharField(max_length=40, blank=True, default="", db_default="")
    buyer_reference = models.CharField(
        max_length=BUYER_REFERENCE_LENGTH, blank=True, default="", db_default=""
    )
    language = models.CharField(max_length=10, blank=True, default="", db_default="")
    currency_code = models.CharField(
        _("currency"), max_length=3, blank=True, default="", db_default=""
    )
    payment_days = models.PositiveSmallIntegerField(_("days to pay"), null=True, blank=True)
    e_invoice = models.CharField(
        _("e-invoice"), max_length=9, choices=Kind, blank=True, default="", db_default=""
    )
    is_watched = models.BooleanField(
        _("always warn before a document is issued"), default=False, db_default=False
    )
    is_active = models.BooleanField(default=True)
    account_managers = models.ManyToManyField(User, blank=True, related_name="managed_customers")

    objects: ClassVar[CustomerQuerySet] = CustomerQuerySet.as_manager()  # type: ignore[assignment]  # a manager of it

    class Meta:
        indexes = [
            models.Index(Lower("name"), "id", name="customer_by_name"),
            models.Index(
                Lower("name"), "id", condition=Q(is_active=False), name="customer_inactive_by_name"
            ),
            models.Index(compact_vat(), condition=~Q(vat_number=""), name="customer_by_vat_number"),
        ]
        permissions = [
            ("view_all_customers", "Can see all customers and their documents"),
            ("manage_customers", "Can change and import customers"),
        ]

    @override
    def __str__(self) -> str:
        return self.name
