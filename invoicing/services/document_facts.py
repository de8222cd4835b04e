"""The facts of a document: what its page shows, an approval is about, and issuing freezes.

Facts are JSON values: amounts are integers of the minor unit (strings only on the wire),
quantities, percentages and exchange rates decimal strings, dates ISO 8601. What came after the
first release is left out while it is not set, so that what an older release prepared stays valid.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import prefetch_related_objects

from invoicing.errors import UnknownCurrencyError
from invoicing.models import Company, Customer, Document, Line, TaxRate, TaxRow
from invoicing.models.documents import TOTALS
from invoicing.money import ExchangeRate, Money, convert, minor_unit
from invoicing.shown import FOR_PEOPLE, LINE, TAX_ROW, TEXTS

# Nested dictionaries and lists, with the names that the wire has for the same.
Facts = dict[str, Any]

# What issuing freezes of each party, and how the document's columns for it begin.
FROZEN = {
    "seller": ("seller", ("name", "address", "vat_number", "iban", "bic")),
    "customer": ("buyer", ("name", "address", "vat_number")),
}
# What issuing freezes of a rate, in columns of the tax row, and of lines without one.
RATE_COLUMNS = ("category", "printed_name", "reason")
UNTAXED_COLUMNS = ("untaxed_category", "untaxed_reason")
# What it freezes of the tax in the currency in which the company declares it.
NATIONAL_COLUMNS = ("national_currency", "national_minor_unit", "national_tax_total")


def read_facts(documents: Sequence[Document]) -> list[Facts]:
    """Return the facts of each document as of a draft: with the current rates and parties.

    The draft of a correction has those of the invoice that it corrects. Raises Company.DoesNotExist
    where there is no company yet.
    """
    seller = Company.objects.get()
    read_parts(documents)
    for document in documents:
        document.seller = seller
    return [_facts(document, _current(document, seller)) for document in documents]


def read_document(document: Document) -> Facts:
    """Return the document's facts: a draft as it stands, an issued one as it was frozen."""
    if not document.is_issued:
        [facts] = read_facts([document])
        return facts
    read_parts([document])
    return frozen_facts(document)


def frozen_facts(document: Document) -> Facts:
    """Return the facts of an issued document, whose parts have been read, as they were frozen."""
    return _facts(document, _frozen(document))


def read_parts(documents: Sequence[Document]) -> None:
    """Read customers, lines and tax rows where a document has them not yet, and all their rates.

    Each rate is read once, so that it cannot be two things in one answer.
    """
    prefetch_related_objects(documents, "customer", "lines", "tax_rows", "corrects__tax_rows")
    parts = [part for document in documents for part in _parts_of(document) if part.tax_rate_id]
    rates = TaxRate.objects.in_bulk({part.tax_rate_id for part in parts})
    for part in parts:
        part.tax_rate = rates[part.tax_rate_id]


def _parts_of(document: Document) -> list[Line | TaxRow]:
    return [*document.lines.all(), *document.tax_rows.all()]


def _facts(document: Document, standing: Facts) -> Facts:
    """Return the facts, given the parties and what taxes mean: as they are now, or were frozen."""
    return {
        "status": document.status,
        "lock_version": document.lock_version,
        "seller": standing.pop("seller"),
        "customer": standing.pop("customer"),
        "issue_date": document.issue_date.isoformat(),
        "due_date": document.due_date.isoformat(),
        "currency_code": document.currency_code,
        "minor_unit": document.minor_unit,
        **TEXTS.facts_of(document),
        "line_items": [LINE.facts_of(line) for line in document.lines.all()],
        "tax_breakdown": standing.pop("tax_breakdown"),
        **{name: getattr(document, name) for name in TOTALS},
        **_set(FOR_PEOPLE.facts_of(document)),
        **_correction(document),
        **_set(standing),
    }


def _correction(document: Document) -> Facts:
    if not (original := document.corrects):
        return {}
    named = {"number": original.number, "issue_date": original.issue_date.isoformat()}
    return {"corrects": named, "correction_reason": document.correction_reason}


def _set(facts: Facts) -> Facts:
    """Return the facts that are set; an amount of 0 is."""
    return {name: value for name, value in facts.items() if value not in {None, ""}}


def _current(document: Document, seller: Company) -> Facts:
    if document.corrects:
        return _as_corrected(document, document.corrects)
    rows = [_tax_row(row, document.language) for row in document.tax_rows.all()]
    return {
        **parties_of(document, seller),
        "tax_breakdown": rows,
        **_untaxed(document, seller),
        **_national(document, seller.tax_currency),
        "buyer_reference": document.buyer_reference or document.customer.buyer_reference,
    }


def _as_corrected(document: Document, original: Document) -> Facts:
    """Return the parties, and what taxes mean, of the invoice that a credit note corrects.

    The tax in the other currency is the draft's own, since it is capped at what is left.
    """
    frozen = _frozen(original)
    rates = {row["tax_rate_id"]: _set_of_rate(row) for row in frozen["tax_breakdown"]}
    rows = [TAX_ROW.facts_of(row) for row in document.tax_rows.all()]
    own = {name: getattr(document, name) for name in NATIONAL_COLUMNS}
    if not _has_untaxed_lines(document):
        own |= dict.fromkeys(UNTAXED_COLUMNS, "")
    breakdown = [row | rates.get(row["tax_rate_id"], {}) for row in rows]
    return {**frozen, **own, "tax_breakdown": breakdown}


def _set_of_rate(row: Facts) -> Facts:
    return {name: row[name] for name in RATE_COLUMNS if name in row}


def parties_of(document: Document, seller: Company) -> Facts:
    """Return those facts that come from the seller and the customer, as they are now."""
    customer, logo = document.customer, {"logo": seller.logo_id} if seller.logo_id else {}
    bank = {"iban": seller.iban, "bic": seller.bic}
    return {
        "seller": {**_party(seller, document.language), **bank, **seller.other_parts(), **logo},
        "customer": {
            **_party(customer, document.language),
            "is_active": customer.is_active,
            **customer.other_parts(),
        },
    }


def _party(party: Company | Customer, language: str) -> Facts:
    return {
        "id": str(party.id),
        "name": party.name,
        "address": party.format_address(language),
        "vat_number": party.vat_number,
    }


def _tax_row(row: TaxRow, language: str) -> Facts:
    """Return the row with the rate as it is now, so that a change of it counts as a difference."""
    rate = row.tax_rate
    now = {"name": rate.name, "percentage": rate.percentage, "is_active": rate.is_active}
    meant = {
        "category": rate.category,
        "printed_name": rate.names.get(language),
        "reason": rate.reasons.get(language),
    }
    return TAX_ROW.facts_of(row) | now | _set(meant)


def _untaxed(document: Document, seller: Company) -> Facts:
    """Return what lines without a rate mean, if there are any."""
    if not _has_untaxed_lines(document):
        return {}
    told = (seller.untaxed_category, seller.untaxed_reasons.get(document.language, ""))
    return dict(zip(UNTAXED_COLUMNS, told, strict=True))


def _has_untaxed_lines(document: Document) -> bool:
    return not all(line.tax_rate_id for line in document.lines.all())


def _national(document: Document, currency_code: str) -> Facts:
    """Return the tax in the currency in which it is declared, if a rate for it is set."""
    if not document.exchange_rate_millionths or currency_code in {"", document.currency_code}:
        return {}
    try:
        decimals = minor_unit(currency_code)
    except UnknownCurrencyError:  # withdrawn since the company chose it
        return {}
    rate = ExchangeRate(document.exchange_rate_millionths, document.exchange_rate_base)
    tax = Money(document.tax_total, document.currency_code, document.minor_unit)
    converted = convert(tax, rate, currency_code, decimals)
    told = (currency_code, decimals, converted)
    return {} if converted is None else dict(zip(NATIONAL_COLUMNS, told, strict=True))


def _frozen(document: Document) -> Facts:
    parties: Facts = {
        party: {name: getattr(document, f"{prefix}_{name}") for name in names}
        for party, (prefix, names) in FROZEN.items()
    }
    logo = {"logo": document.seller_logo_id} if document.seller_logo_id else {}
    rows = document.tax_rows.all()
    return {
        "seller": {**parties["seller"], **_without_address(document.seller_parts), **logo},
        "customer": {**parties["customer"], **_without_address(document.buyer_parts)},
        "tax_breakdown": [
            TAX_ROW.facts_of(row) | _set({name: getattr(row, name) for name in RATE_COLUMNS})
            for row in rows
        ],
        **{name: getattr(document, name) for name in (*UNTAXED_COLUMNS, *NATIONAL_COLUMNS)},
    }


def parts_of(document: Document) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parts of the seller and the buyer: as they are now, or were frozen.

    The facts of a draft have been read.
    """
    if frozen := document if document.is_issued else document.corrects:
        return frozen.seller_parts or {}, frozen.buyer_parts or {}
    return document.seller.parts(), document.customer.parts()


def _without_address(parts: dict[str, Any] | None) -> Facts:
    return {name: each for name, each in (parts or {}).items() if name not in Company.ADDRESS_PARTS}


def frozen_columns(draft: Document, facts: Facts) -> dict[str, Any]:
    """Return what issuing freezes of the parties and the taxes, by the names of the columns.

    The facts are the draft's, as read_facts() has just read them.
    """
    seller_parts, buyer_parts = parts_of(draft)
    return {
        **{
            f"{prefix}_{name}": facts[party][name]
            for party, (prefix, names) in FROZEN.items()
            for name in names
        },
        "seller_parts": seller_parts,
        "buyer_parts": buyer_parts,
        "seller_logo_id": facts["seller"].get("logo"),
        "buyer_reference": facts.get("buyer_reference", ""),
        **{name: facts.get(name, "") for name in UNTAXED_COLUMNS},
        **{name: facts[name] for name in NATIONAL_COLUMNS if name in facts},
    }


def frozen_tax_rows(draft: Document, facts: Facts) -> list[TaxRow]:
    """Return the tax rows of which issuing freezes what their rates mean, with that set."""
    changed = []
    for row, told in zip(draft.tax_rows.all(), facts["tax_breakdown"], strict=True):
        if meant := _set_of_rate(told):
            for name, value in meant.items():
                setattr(row, name, value)
            changed.append(row)
    return changed
