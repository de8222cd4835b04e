"""The product's tables as a plain project would write them."""

import secrets
import uuid

from django.db import models

AMOUNT = {"max_digits": 18, "decimal_places": 2}


def make_draft_code() -> str:
    return f"D-{secrets.token_hex(4)}"


class Customer(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    name = models.CharField(max_length=200)
    is_active = models.BooleanField(default=True)


class TaxRate(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    name = models.CharField(max_length=100)
    percentage = models.DecimalField(max_digits=7, decimal_places=4)


class Series(models.Model):
    year = models.PositiveSmallIntegerField(unique=True)
    last_value = models.PositiveIntegerField(default=0)


class Document(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    type = models.CharField(max_length=7, default="invoice")
    status = models.CharField(max_length=6, default="draft")
    draft_code = models.CharField(max_length=10, unique=True, default=make_draft_code)
    lock_version = models.PositiveIntegerField(default=1)
    connection_id = models.BigIntegerField()
    number = models.CharField(max_length=20, null=True, unique=True)  # noqa: DJ001  unique where present
    customer = models.ForeignKey(Customer, models.PROTECT)
    currency_code = models.CharField(max_length=3)
    minor_unit = models.PositiveSmallIntegerField(default=2)
    issue_date = models.DateField()
    due_date = models.DateField()
    language = models.CharField(max_length=10)
    notes = models.TextField(blank=True)
    reference = models.CharField(max_length=100, blank=True)
    net_total = models.DecimalField(**AMOUNT)
    discount_total = models.DecimalField(**AMOUNT)
    tax_total = models.DecimalField(**AMOUNT)
    grand_total = models.DecimalField(**AMOUNT)
    created_at = models.DateTimeField(auto_now_add=True)
    issued_at = models.DateTimeField(null=True)


class Line(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    document = models.ForeignKey(Document, models.CASCADE, related_name="line_items")
    position = models.PositiveSmallIntegerField()
    description = models.TextField()
    quantity = models.DecimalField(max_digits=15, decimal_places=4)
    unit = models.CharField(max_length=20, blank=True)
    unit_price = models.BigIntegerField()
    discount_type = models.CharField(max_length=7)
    discount_value = models.BigIntegerField()
    tax_rate = models.ForeignKey(TaxRate, models.PROTECT)
    discount_amount = models.DecimalField(**AMOUNT)
    net_amount = models.DecimalField(**AMOUNT)

    class Meta:
        ordering = ("position",)


class TaxRow(models.Model):
    document = models.ForeignKey(Document, models.CASCADE, related_name="tax_breakdown")
    position = models.PositiveSmallIntegerField()
    tax_rate = models.ForeignKey(TaxRate, models.PROTECT)
    name = models.CharField(max_length=100)
    percentage = models.DecimalField(max_digits=7, decimal_places=4)
    taxable_amount = models.DecimalField(**AMOUNT)
    tax_amount = models.DecimalField(**AMOUNT)

    class Meta:
        ordering = ("position",)
