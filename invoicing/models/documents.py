"""Invoices and credit notes, as drafts and as issued."""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Count, F, Q, Sum
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.access import Permission
from invoicing.draft_fields import (
    BUYER_REFERENCE_LENGTH,
    CORRECTION_REASON_LENGTH,
    REFERENCE_LENGTH,
    SUBJECT,
    UNIT_LENGTH,
)
from invoicing.fixed_point import format_fixed_point
from invoicing.identifiers import new_draft_code
from invoicing.models.company import Company, Logo
from invoicing.models.customers import Customer
from invoicing.models.numbering import DocumentType, NumberSeries
from invoicing.models.people import User
from invoicing.models.records import Record, RecordQuerySet
from invoicing.models.taxes import TaxCategory, TaxRate
from invoicing.money import MAX_AMOUNT, MOST_DECIMALS
from invoicing.number_formats import NUMBER_LENGTH
from invoicing.totals import BASIS_POINTS, DiscountType, LineAmounts, TaxFacts

TOTALS = ("net_total", "discount_total", "tax_total", "grand_total")
# SQLite adds up 64 bits only, and ten amounts may have more: high and low digits are added apart.
SPLIT = 10**9


class DocumentStatus(models.TextChoices):
    DRAFT = "draft", _("Draft")
    ISSUED = "issued", _("Issued")


def _amounts_in_range(*fields: str, name: str) -> models.CheckConstraint:
    ranges = {f"{field}__range": (0, MAX_AMOUNT) for field in fields}
    return models.CheckConstraint(condition=Q(**ranges), name=name)


def _tax_category() -> "models.CharField[str, str]":
    return models.CharField(
        max_length=2, choices=TaxCategory, blank=True, default="", db_default=""
    )


def _numbered(status: DocumentStatus, *, is_null: bool) -> Q:
    columns = ("number", "series", "series_value", "issued_at")
    return Q(status=status, **{f"{column}__isnull": is_null for column in columns})


def _discount_in_range(kind: DiscountType, largest: int) -> Q:
    # A check constraint that is NULL passes, so both columns are tested for being set.
    is_set = Q(discount_type__isnull=False, discount_value__isnull=False)
    return is_set & Q(discount_type=kind, discount_value__range=(0, largest))


class DocumentQuerySet(RecordQuerySet["Document"]):
    def visible_to(self, user: User) -> Self:
        """Return those of the customers in the user's scope."""
        if user.has_perm(Permission.VIEW_ALL_CUSTOMERS):
            return self
        return self.filter(customer__in=Customer.objects.visible_to(user).values("pk"))

    def add_up(self, *names: str, **counts: Count) -> Iterator[dict[str, Any]]:
        """Yield the groups that are alike in these columns: with the counts, and `amount`, exactly.

        The amount is the sum of the grand totals, in minor units.
        """
        parts = {"high": Sum(F("grand_total") / SPLIT), "low": Sum(F("grand_total") % SPLIT)}
        rows: Any = self.order_by().values(*names).annotate(**counts, **parts)
        for row in rows:
            yield {**row, "amount": int(row["high"]) * SPLIT + int(row["low"])}


class Document(Record):
    """An invoice or a credit note; once it is issued, triggers refuse any change of it.

    Totals are in minor units; `minor_unit` is the number of the currency's decimals when the draft
    was written, since ISO 4217 may change it later.
    """

    type = models.CharField(max_length=11, choices=DocumentType, default=DocumentType.INVOICE)
    status = models.CharField(max_length=6, choices=DocumentStatus, default=DocumentStatus.DRAFT)
    draft_code = models.CharField(max_length=10, default=new_draft_code, editable=False)
    lock_version = models.PositiveIntegerField(default=1, editable=False)

    customer = models.ForeignKey(
        Customer, on_delete=models.PROTECT, related_name="documents", db_index=False
    )
    issue_date = models.DateField()
    due_date = models.DateField()
    currency_code = models.CharField(max_length=3)
    minor_unit = models.PositiveSmallIntegerField(help_text="Decimal digits of the currency.")
    language = models.CharField(max_length=10)
    notes = models.TextField(blank=True, default="")
    reference = models.CharField(max_length=REFERENCE_LENGTH, blank=True, default="")
    # Internal notes never leave through a tool.
    internal_notes = models.TextField(blank=True, default="")

    # What only people write, see and approve.
    supply_date = models.DateField(null=True, blank=True)
    supply_end_date = models.DateField(null=True, blank=True)
    delivery_country = models.CharField(max_length=2, blank=True, default="", db_default="")
    buyer_reference = models.CharField(
        max_length=BUYER_REFERENCE_LENGTH, blank=True, default="", db_default=""
    )
    exchange_rate_millionths = models.BigIntegerField(
        "exchange rate", null=True, blank=True, help_text="What one unit of the base costs."
    )
    exchange_rate_base = models.CharField(max_length=3, blank=True, default="", db_default="")
    exchange_rate_date = models.DateField(null=True, blank=True)
    # The issued invoice that a credit note corrects.
    corrects = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="corrections",
        db_index=False,
        editable=False,
    )
    correction_reason = models.CharField(
        max_length=CORRECTION_REASON_LENGTH, blank=True, default="", db_default=""
    )

    net_total = models.BigIntegerField()
    discount_total = models.BigIntegerField()
    tax_total = models.BigIntegerField()
    grand_total = models.BigIntegerField()

    # Plain values and no foreign key, so that pages need not know the app of the connections.
    connection_id = models.UUIDField(null=True, blank=True, editable=False)
    connection_name = models.CharField(max_length=200, blank=True, default="", editable=False)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    # Set together, by issuing.
    number = models.CharField(max_length=NUMBER_LENGTH, null=True, blank=True)  # noqa: DJ001  unique where set
    series = models.ForeignKey(
        NumberSeries,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    series_value = models.PositiveIntegerField(null=True, blank=True)
    issued_at = models.DateTimeField(null=True, blank=True)
    # By hand, or by an agent of theirs. Not known of what was issued before this was kept.
    issued_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    seller_name = models.CharField(max_length=200, blank=True, default="")
    seller_address = models.TextField(blank=True, default="")
    seller_vat_number = models.CharField(max_length=NUMBER_LENGTH, blank=True, default="")
    seller_iban = models.CharField(max_length=34, blank=True, default="")
    seller_bic = models.CharField(max_length=11, blank=True, default="")
    buyer_name = models.CharField(max_length=200, blank=True, default="")
    buyer_address = models.TextField(blank=True, default="")
    buyer_vat_number = models.CharField(max_length=NUMBER_LENGTH, blank=True, default="")
    # Empty on what was issued before these were kept.
    seller_parts = models.JSONField(null=True, blank=True)
    buyer_parts = models.JSONField(null=True, blank=True)
    seller_logo = models.ForeignKey(
        Logo, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    untaxed_category = _tax_category()
    untaxed_reason = models.TextField(blank=True, default="", db_default="")
    national_currency = models.CharField(max_length=3, blank=True, default="", db_default="")
    national_minor_unit = models.PositiveSmallIntegerField(null=True, blank=True)
    national_tax_total = models.BigIntegerField(null=True, blank=True)

    objects: ClassVar[DocumentQuerySet] = DocumentQuerySet.as_manager()  # type: ignore[assignment]  # a manager of it

    class Meta:
        permissions = [
            ("manage", "Can make and change drafts"),
            ("finalize", "Can issue documents"),
            ("export", "Can export documents"),
            ("audit", "Can read the evidence of issued documents"),
        ]
        indexes = [
            models.Index(fields=["customer", "id"], name="document_by_customer"),
            models.Index(
                fields=["connection_id", "id"],
                condition=Q(connection_id__isnull=False),
                name="document_by_connection",
            ),
            # What a customer got lately, however many documents they have.
            models.Index(
                fields=["customer", "issued_at"],
                condition=Q(issued_at__isnull=False),
                name="document_by_issued_at",
            ),
            # What a person wrote, or an agent in their name, and nobody has issued.
            models.Index(
                fields=["created_by", "id"],
                condition=Q(status=DocumentStatus.DRAFT),
                name="document_drafts_of",
            ),
            # Adds up what was issued for the customers that a person manages.
            models.Index(
                fields=["customer", "issue_date"],
                condition=Q(status=DocumentStatus.ISSUED),
                name="document_issued_for",
            ),
            models.Index(
                fields=["corrects"],
                condition=Q(corrects__isnull=False),
                name="document_by_corrected",
            ),
            # For lists, which follow them in their order or find by them what a filter leaves.
            models.Index(fields=["issue_date", "id"], name="document_by_day"),
            models.Index(fields=["currency_code", "grand_total", "id"], name="document_by_total"),
            models.Index(
                fields=["created_by", "id"],
                condition=Q(connection_id__isnull=True),
                name="document_by_person",
            ),
            models.Index(
                fields=["id"], condition=Q(status=DocumentStatus.DRAFT), name="document_drafts"
            ),
            models.Index(
                fields=["id"],
                condition=Q(type=DocumentType.CREDIT_NOTE),
                name="document_credit_notes",
            ),
            # Counts them for the customers that a person manages.
            models.Index(
                fields=["customer", "id"],
                condition=Q(status=DocumentStatus.DRAFT),
                name="document_drafts_for",
            ),
            models.Index(
                fields=["customer", "id"],
                condition=Q(type=DocumentType.CREDIT_NOTE),
                name="document_credit_notes_for",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(type__in=DocumentType.values), name="document_type"),
            models.CheckConstraint(
                condition=_numbered(DocumentStatus.DRAFT, is_null=True)
                | _numbered(DocumentStatus.ISSUED, is_null=False),
                name="document_numbered_if_issued",
            ),
            # Not unique=True, which on PostgreSQL adds a second index, for LIKE.
            models.UniqueConstraint(fields=["draft_code"], name="document_draft_code"),
            models.UniqueConstraint(fields=["number"], name="document_number"),
            models.UniqueConstraint(
                fields=["series", "series_value"], name="document_series_value"
            ),
            models.CheckConstraint(
                condition=Q(due_date__gte=F("issue_date")), name="document_due_after_issue"
            ),
            models.CheckConstraint(
                condition=Q(lock_version__gte=1), name="document_lock_version_positive"
            ),
            models.CheckConstraint(
                condition=Q(minor_unit__range=(0, MOST_DECIMALS)), name="document_minor_unit"
            ),
            _amounts_in_range(*TOTALS, name="document_amounts_in_range"),
            models.CheckConstraint(
                condition=Q(grand_total=F("net_total") + F("tax_total")),
                name="document_totals_add_up",
            ),
            models.CheckConstraint(
                condition=Q(supply_end_date__isnull=True)
                | Q(supply_date__isnull=False, supply_end_date__gte=F("supply_date")),
                name="document_supply_period",
            ),
            models.CheckConstraint(
                condition=Q(exchange_rate_millionths__isnull=True)
                | Q(exchange_rate_millionths__gt=0),
                name="document_exchange_rate_positive",
            ),
            models.CheckConstraint(
                condition=Q(corrects__isnull=True) | Q(type=DocumentType.CREDIT_NOTE),
                name="document_only_credit_note_corrects",
            ),
        ]

    # Set where facts are read: the company as of then.
    seller: Company

    @override
    def __str__(self) -> str:
        return self.number or self.draft_code

    @property
    def subject(self) -> str:
        """The text by which lists and searches tell the customer's documents apart."""
        return str(getattr(self, SUBJECT))

    @property
    def is_issued(self) -> bool:
        return self.status == DocumentStatus.ISSUED

    @property
    def lacks_parts(self) -> bool:
        """Return whether it was issued before parts of addresses and categories were kept."""
        return self.is_issued and self.seller_parts is None

    @property
    def customer_name(self) -> str:
        """The customer's name: of an issued document as it was frozen."""
        return self.buyer_name if self.is_issued else self.customer.name

    @property
    def is_credit_note(self) -> bool:
        return self.type == DocumentType.CREDIT_NOTE

    @property
    def is_draft_invoice(self) -> bool:
        """Return whether it can be updated and its issue prepared, as only draft invoices can."""
        return self.type == DocumentType.INVOICE and not self.is_issued


class Line(Record):
    """One line of a document; the first has position 0.

    Amounts are in minor units, before tax; `discount_value` is in basis points or minor units, as
    `discount_type` says.
    """

    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="lines", db_index=False
    )
    position = models.PositiveSmallIntegerField()
    description = models.TextField()
    quantity_ten_thousandths = models.BigIntegerField(_("quantity"))
    unit = models.CharField(max_length=UNIT_LENGTH, blank=True, default="")
    unit_price = models.BigIntegerField()
    discount_type = models.CharField(  # noqa: DJ001 (null means none, in the wire format as well)
        max_length=7, choices=[(kind.value, kind.value) for kind in DiscountType], null=True
    )
    discount_value = models.BigIntegerField(null=True)
    tax_rate = models.ForeignKey(
        TaxRate, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    discount_amount = models.BigIntegerField()
    net_amount = models.BigIntegerField()
    # The line of the invoice that a line of a credit note takes back, in whole or in part.
    corrects = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="corrections",
        db_index=False,
        editable=False,
    )

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["document", "position"], name="line_position"),
            models.CheckConstraint(
                condition=Q(quantity_ten_thousandths__gt=0), name="line_quantity_positive"
            ),
            models.CheckConstraint(
                condition=Q(discount_type__isnull=True, discount_value__isnull=True)
                | _discount_in_range(DiscountType.PERCENT, BASIS_POINTS)
                | _discount_in_range(DiscountType.AMOUNT, MAX_AMOUNT),
                name="line_discount",
            ),
            _amounts_in_range(
                "unit_price", "discount_amount", "net_amount", name="line_amounts_in_range"
            ),
        ]

    @property
    def quantity(self) -> str:
        """The quantity as people write it: "1.5"."""
        return format_fixed_point(self.quantity_ten_thousandths)

    @property
    def amounts(self) -> LineAmounts:
        """What calculate_totals() takes, with the tax rate as it is now."""
        return LineAmounts(
            quantity=self.quantity_ten_thousandths,
            unit_price=self.unit_price,
            discount_type=DiscountType(self.discount_type) if self.discount_type else None,
            discount_value=self.discount_value,
            tax_rate=self.tax_rate.facts if self.tax_rate else None,
        )


class TaxRow(Record):
    """The tax on all lines of one rate, with the rate's name and percentage when it was written.

    Amounts are in minor units, the percentage in ten-thousandths of a percent.
    """

    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="tax_rows", db_index=False
    )
    position = models.PositiveSmallIntegerField()
    tax_rate = models.ForeignKey(
        TaxRate, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    name = models.CharField(max_length=100)
    percentage_ten_thousandths = models.PositiveIntegerField(_("percentage"))
    taxable_amount = models.BigIntegerField()
    tax_amount = models.BigIntegerField()
    # Set by issuing: the rate's category, its name in the document's language, and its reason.
    category = _tax_category()
    printed_name = models.CharField(max_length=100, blank=True, default="", db_default="")
    reason = models.TextField(blank=True, default="", db_default="")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["document", "position"], name="tax_row_position"),
            models.UniqueConstraint(fields=["document", "tax_rate"], name="tax_row_rate"),
            _amounts_in_range("taxable_amount", "tax_amount", name="tax_row_amounts_in_range"),
        ]

    @property
    def facts(self) -> TaxFacts:
        """The tax rate as it was when the row was written."""
        return TaxFacts(
            id=self.tax_rate_id, name=self.name, percentage=self.percentage_ten_thousandths
        )
