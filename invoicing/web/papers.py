"""A document as `invoicing/paper.html` shows it: every amount and date formatted."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from unicodedata import east_asian_width

from stdnum import iban

from invoicing.draft_fields import DRAFT_TEXTS, LINE_TEXTS
from invoicing.models import Document, DocumentType
from invoicing.services.document_facts import Facts, read_document
from invoicing.totals import DiscountType
from invoicing.web.formats import Formats
from invoicing.web.paper_labels import labels_in

# The columns beside the description: fields of PaperLine, and keys of the labels.
FIGURES = ("quantity", "unit_price", "discount", "tax", "amount")
# The most characters in a row on a sheet of paper: the sum of the widest of each column.
LONGEST_ROW = 64
# About how many characters a description or notes have in a line on paper, how many lines are kept
# on one sheet, and how many of a longer description stay with the totals.
LINE_WIDTH = 36
KEPT_LINES = 12
CLOSING_LINES = 3


@dataclass(frozen=True, kw_only=True)
class PaperLine:
    """One line; without a discount or a tax rate, their texts are empty.

    `tax_name` is set if rates of the document share a percentage: export and reverse charge are
    both 0 %.
    """

    description: str
    texts: Mapping[str, str]
    quantity: str
    unit_price: str
    discount: str
    tax: str
    tax_name: str
    amount: str

    @property
    def is_tall(self) -> bool:
        """Tell whether it may be too tall for what is left of a sheet, and so may be cut."""
        return _count_lines(self.description) > KEPT_LINES

    def width_of(self, figure: str) -> int:
        """Return the width of a column's text in characters; a quantity includes its unit."""
        unit = f" {self.texts['unit']}" if figure == "quantity" else ""
        return _width_of(f"{getattr(self, figure)}{unit}")


@dataclass(frozen=True, kw_only=True)
class PaperTax:
    """The tax on all lines of one rate."""

    name: str
    percentage: str
    taxable_amount: str
    tax_amount: str


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What `invoicing/paper.html` shows, in the document's own language.

    `last_line` is the last one as it stands with the totals: the description of a tall line lacks
    what it begins with, `last_line_begin`.
    """

    language: str
    labels: Mapping[str, str]
    title: str
    number: str
    seller: Facts
    buyer: Facts
    issue_date: str
    due_date: str
    currency_code: str
    texts: Mapping[str, str]
    has_long_notes: bool
    lines: list[PaperLine]
    last_line_begin: str
    last_line: PaperLine
    has_discounts: bool
    has_long_figures: bool
    taxes: list[PaperTax]
    discount_total: str
    net_total: str
    tax_total: str
    grand_total: str
    iban: str
    bic: str

    @property
    def is_of_one_piece(self) -> bool:
        """Tell whether there is a single line, which stands with the totals."""
        return not self.earlier_lines and not self.last_line_begin

    @property
    def earlier_lines(self) -> list[PaperLine]:
        return self.lines[:-1]


def paper_of_document(document: Document) -> Paper:
    """Lay out a document: a draft as of now, without bank details, or an issued one as frozen."""
    return lay_out(
        read_document(document),
        document_type=DocumentType(document.type),
        number=document.number or "",
        with_bank=document.is_issued,
    )


def lay_out(
    facts: Facts,
    *,
    document_type: DocumentType = DocumentType.INVOICE,
    number: str = "",
    with_bank: bool = True,
) -> Paper:
    """Format facts, such as those that an approval was prepared with.

    An old approval lacks facts that were added since.
    """
    formats = Formats(facts["language"], facts["currency_code"], facts["minor_unit"])
    seller = facts["seller"]
    labels = labels_in(facts["language"])
    rates = {row["tax_rate_id"]: row for row in facts["tax_breakdown"]}
    percentages = Counter(row["percentage"] for row in facts["tax_breakdown"])
    lines = [_line(line, rates, percentages, formats) for line in facts["line_items"]]
    begin, last_line = _split(lines[-1])
    has_discounts = any(line["discount_type"] for line in facts["line_items"])
    return Paper(
        language=facts["language"],
        labels=labels,
        title=labels[document_type],
        number=number,
        seller=seller,
        buyer=facts["customer"],
        issue_date=formats.day(facts["issue_date"]),
        due_date=formats.day(facts["due_date"]),
        currency_code=facts["currency_code"],
        texts={name: facts.get(name, "") for name in DRAFT_TEXTS},
        has_long_notes=_count_lines(facts["notes"]) > KEPT_LINES,
        lines=lines,
        last_line_begin=begin,
        last_line=last_line,
        has_discounts=has_discounts,
        has_long_figures=_are_long(lines, labels, has_discounts=has_discounts),
        taxes=[_tax(row, formats) for row in facts["tax_breakdown"]],
        discount_total=formats.money(facts["discount_total"]),
        net_total=formats.money(facts["net_total"]),
        tax_total=formats.money(facts["tax_total"]),
        grand_total=formats.money(facts["grand_total"]),
        # In groups of four, the print format of ISO 13616.
        iban=iban.format(seller.get("iban", "")) if with_bank else "",
        bic=seller.get("bic", "") if with_bank else "",
    )


def _line(
    line: Facts,
    rates: Mapping[str, Facts],
    percentages: Mapping[str, int],
    formats: Formats,
) -> PaperLine:
    rate = rates.get(line["tax_rate_id"] or "")
    return PaperLine(
        description=line["description"],
        texts={name: line.get(name, "") for name in LINE_TEXTS},
        quantity=formats.quantity(line["quantity"]),
        unit_price=formats.amount(line["unit_price"]),
        discount=_discount(line, formats),
        tax=formats.percentage(rate["percentage"]) if rate else "",
        tax_name=rate["name"] if rate and percentages[rate["percentage"]] > 1 else "",
        amount=formats.amount(line["net_amount"]),
    )


def _count_lines(text: str) -> int:
    """Return about how many lines a text takes on paper."""
    return sum(max(1, math.ceil(_width_of(line) / LINE_WIDTH)) for line in text.split("\n"))


def _split(line: PaperLine) -> tuple[str, PaperLine]:
    """Cut a tall line, at the end of a line or a word, so that its end stays with the totals."""
    if not line.is_tall:
        return "", line
    text, lines = line.description, line.description.split("\n")
    begin, end = ("\n".join(part) for part in (lines[:-CLOSING_LINES], lines[-CLOSING_LINES:]))
    if not begin or _count_lines(end) > KEPT_LINES:
        place = text.find(" ", -CLOSING_LINES * LINE_WIDTH)
        begin, end = text[: max(place, 0)], text[place + 1 :]
    return begin, replace(line, description=end)


def _are_long(lines: list[PaperLine], labels: Mapping[str, str], *, has_discounts: bool) -> bool:
    """Tell whether the lines are too wide for a table on a sheet of paper.

    A column is as wide as its widest text, the heading included.
    """
    shown = [figure for figure in FIGURES if has_discounts or figure != "discount"]
    widest = (
        max([_width_of(labels[figure]), *(line.width_of(figure) for line in lines)])
        for figure in shown
    )
    return _width_of(labels["description"]) + sum(widest) > LONGEST_ROW


def _width_of(text: str) -> int:
    """Return the width of a text in Latin characters; Chinese and emoji count twice."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _discount(line: Facts, formats: Formats) -> str:
    value = line["discount_value"]
    if value is None:
        return ""
    amount = formats.amount(line["discount_amount"])
    if line["discount_type"] == DiscountType.AMOUNT:
        return amount
    return f"{formats.basis_points(value)} = {amount}"


def _tax(row: Facts, formats: Formats) -> PaperTax:
    return PaperTax(
        name=row["name"],
        percentage=formats.percentage(row["percentage"]),
        taxable_amount=formats.money(row["taxable_amount"]),
        tax_amount=formats.money(row["tax_amount"]),
    )
