"""The company that invoices; an installation has one."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.languages import currency_of_country
from invoicing.models.people import User
from invoicing.models.records import Party
from invoicing.models.taxes import TaxCategory, texts_by_language

# What a line without a rate may mean: exempt, or outside the scope of VAT.
UNTAXED = (TaxCategory.EXEMPT, TaxCategory.OUTSIDE_SCOPE)


class Logo(models.Model):
    """A logo as papers show it, under the SHA-256 of its PNG; it is never changed or deleted."""

    digest = models.CharField(max_length=64, primary_key=True)
    png = models.BinaryField()

    @override
    def __str__(self) -> str:
        return self.digest


class Company(Party):
    """The seller on every invoice; its owner is the owner of the installation.

    `untaxed_category` says what a line without a tax rate means, once the owner has said so, and
    `untaxed_reasons` why, by language. A small business charges no tax: its lines are exempt.
    `watched_amounts` has, by currency and in its minor unit, the total from which who issues or
    approves a document is always warned. `passkeys_required_from` is the day (UTC) from which
    nobody signs in without a passkey; null is never.
    """

    OTHER_PARTS: ClassVar[tuple[str, ...]] = (
        *Party.OTHER_PARTS,
        *("registration", "contact_name", "phone", "footer_text"),
    )

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    registration = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text=_("The register and the number there, such as HRB 12345, Amtsgericht Hamburg."),
    )
    contact_name = models.CharField(max_length=200, blank=True, default="", db_default="")
    phone = models.CharField(max_length=40, blank=True, default="", db_default="")
    footer_text = models.TextField(blank=True, default="", db_default="")
    logo = models.ForeignKey(
        Logo, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    iban = models.CharField(_("IBAN"), max_length=34, blank=True, default="")
    bic = models.CharField(_("BIC"), max_length=11, blank=True, default="")
    payment_days = models.PositiveSmallIntegerField(_("days to pay"), null=True, blank=True)
    national_currency = models.CharField(max_length=3, blank=True, default="", db_default="")
    is_small_business = models.BooleanField(default=False, db_default=False)
    untaxed_category = models.CharField(
        max_length=2,
        blank=True,
        default="",
        db_default="",
        choices=[(each.value, each.label) for each in UNTAXED],
    )
    untaxed_reasons = texts_by_language()
    watched_amounts = models.JSONField(
        blank=True, default=dict, db_default=models.Value({}, models.JSONField())
    )
    passkeys_required_from = models.DateField(null=True, blank=True, editable=False)
    # Unique, and true in every row: the database refuses a second company.
    is_only_one = models.BooleanField(default=True, unique=True, editable=False)

    class Meta:
        verbose_name_plural = _("company")
        constraints = [
            models.CheckConstraint(condition=models.Q(is_only_one=True), name="company_only_one"),
            models.CheckConstraint(
                condition=models.Q(untaxed_category__in=["", *UNTAXED]),
                name="company_untaxed_category",
            ),
        ]

    @override
    def __str__(self) -> str:
        return self.name

    @property
    def tax_currency(self) -> str:
        """The currency in which it declares its VAT: the one it names, or that of its country."""
        return self.national_currency or currency_of_country(self.country)
