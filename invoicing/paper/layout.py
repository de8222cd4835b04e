"""A document as `invoicing/paper.html` shows it: its facts, with amounts and dates formatted."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from unicodedata import east_asian_width

from stdnum import iban

from invoicing.draft_fields import DRAFT_TEXTS
from invoicing.languages import name_of_country
from invoicing.models import Document, DocumentType
from invoicing.models.documents import TOTALS
from invoicing.models.taxes import TaxCategory
from invoicing.paper.formats import Formats
from invoicing.paper.labels import labels_in
from invoicing.paper.payment_codes import payment_of
from invoicing.services.document_facts import Facts, read_document
from invoicing.totals import DiscountType

# The columns beside the description: keys of a line on paper, and of the labels.
FIGURES = ("quantity", "unit_price", "discount", "tax", "amount")
# What stands below the address of each party, and the texts of the document at its head.
SELLER_DETAILS = ("vat_number", "tax_number", "registration", "contact_name", "phone", "email")
BUYER_DETAILS = ("customer_number", "vat_number", "tax_number", "buyer_reference")
HEAD_TEXTS = tuple(name for name in DRAFT_TEXTS if name != "notes")
# The most characters in a row on a sheet of paper: the sum of the widest of each column.
LONGEST_ROW = 64
# About how many characters a description or notes have in a line on paper, how many lines are kept
# on one sheet, and how many of a longer description stay with the totals.
LINE_WIDTH = 36
KEPT_LINES = 12
CLOSING_LINES = 3


# The facts, with their figures as texts, and what the page needs besides.
Paper = dict[str, Any]
PaperLine = dict[str, Any]


def paper_of_document(document: Document, facts: Facts | None = None) -> Paper:
    """Lay out a document: a draft as of now, or an issued one as frozen, with how to pay it.

    Its facts are read unless they are given.

    What was issued before dates of supply were kept says nothing of one.
    """
    paper = lay_out(
        facts or read_document(document),
        document_type=DocumentType(document.type),
        number=document.number or "",
        with_bank=document.is_issued,
        with_supply=not document.lacks_parts,
    )
    return {**paper, "payment": payment_of(document)}


def lay_out(
    facts: Facts,
    *,
    document_type: DocumentType = DocumentType.INVOICE,
    number: str = "",
    with_bank: bool = True,
    with_supply: bool = True,
) -> Paper:
    """Format facts, such as those that an approval was prepared with.

    An old approval lacks facts that were added since. A credit note asks for no payment: it says
    neither when nor where to pay. `last_line` is the last one as it stands with
    the totals: the description of a tall line lacks what it begins with, `last_line_begin`.
    """
    formats = Formats(facts["language"], facts["currency_code"], facts["minor_unit"])
    seller, labels = facts["seller"], labels_in(facts["language"])
    lines = _lines(facts, formats)
    begin, last_line = _split(lines[-1])
    is_payable = document_type != DocumentType.CREDIT_NOTE
    has_discounts = any(line["discount_type"] for line in facts["line_items"])
    return {
        **facts,
        **{name: formats.money(facts[name]) for name in TOTALS},
        "labels": labels,
        "title": labels[document_type],
        "number": number,
        "corrected": _corrected(facts, labels, formats),
        "issue_date": formats.day(facts["issue_date"]),
        "due_date": formats.day(facts["due_date"]),
        "head": list(_head(facts, labels, formats, with_supply=with_supply, with_due=is_payable)),
        "seller_details": _details(seller, SELLER_DETAILS, labels),
        "buyer_details": _details({**facts, **facts["customer"]}, BUYER_DETAILS, labels),
        "has_long_notes": _count_lines(facts["notes"]) > KEPT_LINES,
        "lines": lines,
        "earlier_lines": lines[:-1],
        "last_line_begin": begin,
        "last_line": last_line,
        # A single line stands with the totals.
        "is_of_one_piece": len(lines) == 1 and not begin,
        "has_discounts": has_discounts,
        "has_long_figures": _are_long(lines, labels, has_discounts=has_discounts),
        "taxes": [_tax(row, formats) for row in facts["tax_breakdown"]],
        "untaxed": _untaxed(facts, labels, formats),
        "reasons": _reasons(facts),
        "national_tax": _national_tax(facts, labels, formats),
        # In groups of four, the print format of ISO 13616.
        "iban": iban.format(seller.get("iban", "")) if with_bank and is_payable else "",
        "bic": seller.get("bic", "") if with_bank and is_payable else "",
    }


def _head(
    facts: Facts, labels: Mapping[str, str], formats: Formats, *, with_supply: bool, with_due: bool
) -> Iterator[tuple[str, str]]:
    """Yield the labels and texts beside the title."""
    yield labels["issue_date"], formats.day(facts["issue_date"])
    if with_supply:
        yield from _supply(facts, labels, formats)
    if with_due:
        yield labels["due_date"], formats.day(facts["due_date"])
    if country := facts.get("delivery_country"):
        yield labels["delivery_country"], name_of_country(country, facts["language"])
    yield from _details(facts, HEAD_TEXTS, labels)
    yield labels["currency"], facts["currency_code"]


def _supply(facts: Facts, labels: Mapping[str, str], formats: Formats) -> Iterator[tuple[str, str]]:
    """Yield the day or period of supply: without one it is the issue date.

    Of an intra-community supply and of what is corrected, nothing is assumed.
    """
    begin, end = facts.get("supply_date"), facts.get("supply_end_date")
    if begin and end:
        days = (formats.short_day(begin), formats.short_day(end))
        yield labels["supply_period"], " \N{EN DASH} ".join(days)
    elif begin:
        yield labels["supply_date"], formats.day(begin)
    elif TaxCategory.INTRA_COMMUNITY not in _categories(facts) and "corrects" not in facts:
        yield labels["supply_date"], labels["as_issue_date"]


def _categories(facts: Facts) -> set[str]:
    return {row.get("category", "") for row in facts["tax_breakdown"]}


def _details(
    facts: Facts, names: tuple[str, ...], labels: Mapping[str, str]
) -> list[tuple[str, str]]:
    return [(labels[name], facts[name]) for name in names if facts.get(name)]


def _corrected(facts: Facts, labels: Mapping[str, str], formats: Formats) -> str:
    if not (original := facts.get("corrects")):
        return ""
    return labels["corrects"].format(original["number"], formats.day(original["issue_date"]))


def _lines(facts: Facts, formats: Formats) -> list[PaperLine]:
    rates = {row["tax_rate_id"]: row for row in facts["tax_breakdown"]}
    percentages = Counter(row["percentage"] for row in facts["tax_breakdown"])
    return [_line(line, rates, percentages, formats) for line in facts["line_items"]]


def _line(
    line: Facts, rates: Mapping[str, Facts], percentages: Mapping[str, int], formats: Formats
) -> PaperLine:
    """Return a line; without a discount or a tax rate, their texts are empty.

    `tax_name` is set if rates of the document share a percentage: export and reverse charge are
    both 0 %.
    """
    rate = rates.get(line["tax_rate_id"] or "")
    return {
        **line,
        "is_tall": _is_tall(line["description"]),
        "quantity": formats.quantity(line["quantity"]),
        "unit_price": formats.amount(line["unit_price"]),
        "discount": _discount(line, formats),
        "tax": formats.percentage(rate["percentage"]) if rate else "",
        "tax_name": _name_of_tax(rate) if rate and percentages[rate["percentage"]] > 1 else "",
        "amount": formats.amount(line["net_amount"]),
    }


def _is_tall(description: str) -> bool:
    """Return whether a line may be too tall for what is left of a sheet, and so may be cut."""
    return _count_lines(description) > KEPT_LINES


def _count_lines(text: str) -> int:
    """Return about how many lines a text takes on paper."""
    return sum(max(1, math.ceil(_width_of(line) / LINE_WIDTH)) for line in text.split("\n"))


def _split(line: PaperLine) -> tuple[str, PaperLine]:
    """Cut a tall line, at the end of a line or a word, so that its end stays with the totals."""
    text, lines = line["description"], line["description"].split("\n")
    if not line["is_tall"]:
        return "", line
    begin, end = ("\n".join(part) for part in (lines[:-CLOSING_LINES], lines[-CLOSING_LINES:]))
    if not begin or _count_lines(end) > KEPT_LINES:
        place = text.find(" ", -CLOSING_LINES * LINE_WIDTH)
        begin, end = text[: max(place, 0)], text[place + 1 :]
    return begin, {**line, "description": end, "is_tall": _is_tall(end)}


def _are_long(lines: list[PaperLine], labels: Mapping[str, str], *, has_discounts: bool) -> bool:
    """Return whether the lines are too wide for a table on a sheet of paper.

    A column is as wide as its widest text, the heading included.
    """
    shown = [figure for figure in FIGURES if has_discounts or figure != "discount"]
    widest = (
        max([_width_of(labels[figure]), *(_width_in(line, figure) for line in lines)])
        for figure in shown
    )
    return _width_of(labels["description"]) + sum(widest) > LONGEST_ROW


def _width_in(line: PaperLine, figure: str) -> int:
    """Return the width of a column's text in a line; a quantity includes its unit."""
    unit = f" {line.get('unit', '')}" if figure == "quantity" else ""
    return _width_of(f"{line[figure]}{unit}")


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


def _tax(row: Facts, formats: Formats) -> Facts:
    return {
        **row,
        "name": _name_of_tax(row),
        "percentage": formats.percentage(row["percentage"]),
        "taxable_amount": formats.money(row["taxable_amount"]),
        "tax_amount": formats.money(row["tax_amount"]),
    }


def _name_of_tax(row: Facts) -> str:
    """Return the rate's name in the document's language, where it has one."""
    name: str = row.get("printed_name") or row["name"]
    return name


def _untaxed(facts: Facts, labels: Mapping[str, str], formats: Formats) -> Facts:
    """Return what lines without a rate mean, and their net amount, once that is known."""
    if not (category := facts.get("untaxed_category")):
        return {}
    taxable = sum(row["taxable_amount"] for row in facts["tax_breakdown"])
    return {
        "name": labels[f"untaxed_{category}"],
        "taxable_amount": formats.money(facts["net_total"] - taxable),
        "tax_amount": formats.money(0),
    }


def _reasons(facts: Facts) -> list[str]:
    """Return why less tax or none is charged, each reason once."""
    told = [*(row.get("reason") for row in facts["tax_breakdown"]), facts.get("untaxed_reason")]
    return list(dict.fromkeys(filter(None, told)))


def _national_tax(facts: Facts, labels: Mapping[str, str], formats: Formats) -> Facts:
    """Return the tax, if there is any, in the currency in which it is declared, and the rate."""
    if not facts.get("national_tax_total"):
        return {}
    code = facts["national_currency"]
    base = facts["exchange_rate_base"]
    other = code if base == facts["currency_code"] else facts["currency_code"]
    rate = f"1 {base} = {formats.exchange_rate(facts['exchange_rate'])} {other}"
    if day := facts.get("exchange_rate_date"):
        rate = f"{rate} ({formats.short_day(day)})"
    national = Formats(facts["language"], code, facts["national_minor_unit"])
    return {
        "label": labels["national_tax"].format(code),
        "amount": national.money(facts["national_tax_total"]),
        "rate": rate,
    }
