"""The totals below the lines of a draft, formatted as on the invoice."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from invoicing.fixed_point import format_fixed_point
from invoicing.paper.formats import Formats
from invoicing.services.draft_content import DraftContent
from invoicing.totals import Totals


class TaxShown(NamedTuple):
    """The tax of one rate, and the amount that it is charged on."""

    name: str
    percentage: str
    taxable: str
    tax: str


@dataclass(frozen=True)
class ShownTotals:
    """The totals as texts in `language`, that of the document; `taxes` has a row for each rate."""

    language: str
    taxes: list[TaxShown]
    net_total: str
    tax_total: str
    grand_total: str


class _Sums(Protocol):
    """What a document and computed totals have in common."""

    @property
    def net_total(self) -> int: ...
    @property
    def tax_total(self) -> int: ...
    @property
    def grand_total(self) -> int: ...


def show_totals_of(content: DraftContent) -> ShownTotals:
    """Return the totals of a draft that could be saved."""
    document = content.document
    formats = Formats(document.language, document.currency_code, document.minor_unit)
    rows = (
        (
            row.name,
            format_fixed_point(row.percentage_ten_thousandths),
            row.taxable_amount,
            row.tax_amount,
        )
        for row in content.tax_rows
    )
    return _show(formats, document, rows)


def show_totals(totals: Totals, formats: Formats) -> ShownTotals:
    """Return the totals of the lines that could be read."""
    rows = (
        (row.rate.name, format_fixed_point(row.rate.percentage), row.taxable_amount, row.tax_amount)
        for row in totals.tax_breakdown
    )
    return _show(formats, totals, rows)


def _show(formats: Formats, sums: _Sums, rows: Iterable[tuple[str, str, int, int]]) -> ShownTotals:
    taxes = [
        TaxShown(name, formats.percentage(rate), formats.money(taxable), formats.money(tax))
        for name, rate, taxable, tax in rows
    ]
    net, tax, grand = (
        formats.money(each) for each in (sums.net_total, sums.tax_total, sums.grand_total)
    )
    return ShownTotals(formats.language, taxes, net, tax, grand)
