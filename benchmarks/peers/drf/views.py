"""The peer's documents: serializers and viewsets as the framework's guide writes them.

Its answers have the fields of the product's; amounts are decimals.
"""

from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import override

from benchmarks.peers.drf.models import Customer, Document, Line, Series, TaxRate, TaxRow

BASE_URL = "https://peer.example"
CENT = Decimal("0.01")


def round_half_up(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


class LineSerializer(serializers.ModelSerializer[Line]):
    tax_rate_id = serializers.PrimaryKeyRelatedField(
        source="tax_rate", queryset=TaxRate.objects.all()
    )

    class Meta:
        model = Line
        fields = (
            *("description", "quantity", "unit", "unit_price", "discount_type", "discount_value"),
            *("tax_rate_id", "discount_amount", "net_amount"),
        )
        read_only_fields = ("discount_amount", "net_amount")


class TaxRowSerializer(serializers.ModelSerializer[TaxRow]):
    class Meta:
        model = TaxRow
        fields = ("tax_rate_id", "name", "percentage", "taxable_amount", "tax_amount")


class SummarySerializer(serializers.ModelSerializer[Document]):
    href = serializers.SerializerMethodField()

    class Meta:
        model = Document
        fields = (
            *("id", "type", "status", "number", "draft_code", "lock_version", "connection_id"),
            *("customer_id", "issue_date", "due_date", "currency_code", "minor_unit"),
            *("net_total", "discount_total", "tax_total", "grand_total", "href"),
        )
        read_only_fields = fields

    def get_href(self, document: Document) -> str:
        return f"{BASE_URL}/documents/{document.id}"


class DocumentSerializer(SummarySerializer):
    customer_id = serializers.PrimaryKeyRelatedField(
        source="customer", queryset=Customer.objects.filter(is_active=True)
    )
    line_items = LineSerializer(many=True, min_length=1, max_length=100)
    tax_breakdown = TaxRowSerializer(many=True, read_only=True)

    class Meta:
        model = Document
        fields = (
            *SummarySerializer.Meta.fields,
            *("language", "notes", "reference", "line_items", "tax_breakdown", "issued_at"),
        )
        read_only_fields = (
            *("id", "type", "status", "number", "draft_code", "lock_version", "connection_id"),
            *("minor_unit", "net_total", "discount_total", "tax_total", "grand_total"),
            "issued_at",
        )

    @override
    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["due_date"] < attrs["issue_date"]:
            raise serializers.ValidationError({"due_date": "must not be before the issue date"})
        return attrs

    @override
    @transaction.atomic
    def create(self, validated_data: dict[str, Any]) -> Document:
        lines = [
            Line(position=n, **each) for n, each in enumerate(validated_data.pop("line_items"))
        ]
        for line in lines:
            _calculate(line)
        taxable: dict[TaxRate, Decimal] = defaultdict(Decimal)
        for line in lines:
            taxable[line.tax_rate] += line.net_amount
        rows = [_tax_row(n, rate, amount) for n, (rate, amount) in enumerate(taxable.items())]
        net_total = sum((line.net_amount for line in lines), Decimal())
        tax_total = sum((row.tax_amount for row in rows), Decimal())
        document = Document.objects.create(
            **validated_data,
            net_total=net_total,
            discount_total=sum((line.discount_amount for line in lines), Decimal()),
            tax_total=tax_total,
            grand_total=net_total + tax_total,
        )
        for part in (*lines, *rows):
            part.document = document
        Line.objects.bulk_create(lines)
        TaxRow.objects.bulk_create(rows)
        return document


def _calculate(line: Line) -> None:
    gross = round_half_up(line.quantity * line.unit_price / 100)
    line.discount_amount = round_half_up(gross * line.discount_value / 10_000)
    line.net_amount = gross - line.discount_amount


def _tax_row(position: int, rate: TaxRate, taxable: Decimal) -> TaxRow:
    return TaxRow(
        position=position,
        tax_rate=rate,
        name=rate.name,
        percentage=rate.percentage,
        taxable_amount=taxable,
        tax_amount=round_half_up(taxable * rate.percentage / 100),
    )


class PagesById(CursorPagination):
    ordering = "id"
    page_size = 25


class DocumentViewSet(
    mixins.CreateModelMixin,
    mixins.RetrieveModelMixin,
    mixins.ListModelMixin,
    viewsets.GenericViewSet[Document],
):
    queryset = Document.objects.all()
    pagination_class = PagesById

    @override
    def get_queryset(self) -> Any:
        if self.action == "list":
            return super().get_queryset()
        return super().get_queryset().prefetch_related("line_items", "tax_breakdown")

    @override
    def get_serializer_class(self) -> Any:
        return SummarySerializer if self.action == "list" else DocumentSerializer

    @override
    def perform_create(self, serializer: Any) -> None:
        serializer.save(connection_id=self.request.auth.application_id)

    @action(detail=True, methods=["post"])
    def issue(self, request: Request, pk: str) -> Response:
        """Give the next number, in the transaction that freezes."""
        with transaction.atomic():
            document = Document.objects.select_for_update().get(pk=pk)
            if document.status != "draft":
                return Response(status=status.HTTP_409_CONFLICT)
            series = Series.objects.select_for_update().get(year=document.issue_date.year)
            series.last_value += 1
            series.save()
            document.number = f"INV-{series.year}-{series.last_value:04d}"
            document.status, document.issued_at = "issued", timezone.now()
            document.save()
        return Response(DocumentSerializer(self.get_object()).data)
