"""The differences between two versions of a document's facts, in words for people."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from invoicing.draft_fields import DRAFT_TEXTS, LINE_TEXTS
from invoicing.languages import name_of_country, name_of_language, page_language
from invoicing.models import TaxCategory
from invoicing.paper.formats import Formats, format_day
from invoicing.paper.labels import labels_in
from invoicing.paper.layout import Paper, PaperLine, lay_out
from invoicing.services.document_facts import Facts

_Key = TypeVar("_Key")

# What is said of a party besides its name, by the name in the facts.
_OF_PARTY = {
    "address": "address",
    "vat_number": "VAT number",
    "tax_number": "tax number",
    "email": "e-mail address",
    "electronic_address": "electronic address",
    "electronic_address_scheme": "scheme of the electronic address",
    "registration": "registration",
    "contact_name": "contact",
    "phone": "phone",
    "footer_text": "footer text",
    "customer_number": "customer number",
}


VERSION = "Version of the draft"


@dataclass(frozen=True)
class Change:
    """A statement before and after; it is empty on a side that lacks it."""

    label: str
    before: str
    after: str


def differ(
    before: Mapping[_Key, str], after: Mapping[_Key, str]
) -> Iterator[tuple[_Key, str, str]]:
    """Yield the keys whose texts differ, with both; what one side lacks is empty there."""
    for key in dict.fromkeys((*after, *before)):
        old, new = before.get(key, ""), after.get(key, "")
        if old != new:
            yield key, old, new


def find_changes(before: Facts, after: Facts) -> list[Change]:
    """Return the statements that changed, in the order of the document."""
    return [Change(*each) for each in differ(dict(_statements(before)), dict(_statements(after)))]


def _statements(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield a label and the formatted text for every fact except IDs; no label comes twice."""
    paper, labels = lay_out(facts), labels_in("en")
    yield "Status", facts["status"]
    yield VERSION, str(facts["lock_version"])
    yield from _party("Seller", facts["seller"])
    yield "Logo", _logo(facts["seller"])
    yield "Bank details", "\n".join(filter(None, (paper["iban"], paper["bic"])))
    yield from _party("Customer", facts["customer"])
    yield "Customer is active", _yes_or_no(facts["customer"])
    yield "Issue date", paper["issue_date"]
    yield "Due date", paper["due_date"]
    yield "Currency", f"{facts['currency_code']}, {facts['minor_unit']} decimals"
    yield "Language", name_of_language(facts["language"])
    for name in DRAFT_TEXTS:
        yield labels[name], facts.get(name, "")
    for number, line in enumerate(paper["lines"], start=1):
        yield f"Line {number}", _line(line)
    yield from _taxes(facts, paper)
    yield from _later_statements(facts).items()
    yield "Discounts", paper["discount_total"]
    yield "Net total", paper["net_total"]
    yield "Tax total", paper["tax_total"]
    yield "Total", paper["grand_total"]


def _party(role: str, party: Facts) -> Iterator[tuple[str, str]]:
    yield role, party["name"]
    for name, words in _OF_PARTY.items():
        yield f"{role}’s {words}", party.get(name, "")  # noqa: RUF001  an apostrophe for readers


def _logo(seller: Facts) -> str:
    """Return how its digest begins, since two pictures have no other name."""
    return f"Picture {seller['logo'][:8]}" if "logo" in seller else ""


def _later_statements(facts: Facts) -> dict[str, str]:
    """Return what came after the first release, by label; what is not set is empty."""
    return {
        "Date of supply": _day(facts, "supply_date"),
        "Last day of supply": _day(facts, "supply_end_date"),
        "Country of delivery": _country(facts),
        "Buyer’s reference": facts.get("buyer_reference", ""),  # noqa: RUF001  an apostrophe for readers
        "Exchange rate": _exchange_rate(facts),
        "Date of the exchange rate": _day(facts, "exchange_rate_date"),
        "Tax total in the currency of VAT": _national_tax(facts),
        "Lines without tax": _category(facts.get("untaxed_category", "")),
        "Reason of lines without tax": facts.get("untaxed_reason", ""),
        "Corrects": facts.get("corrects", {}).get("number", ""),
        "Date of what it corrects": _day(facts.get("corrects", {}), "issue_date"),
        "Reason of the correction": facts.get("correction_reason", ""),
    }


def _day(facts: Facts, name: str) -> str:
    return format_day(date.fromisoformat(facts[name])) if name in facts else ""


def _country(facts: Facts) -> str:
    return name_of_country(facts.get("delivery_country", ""), page_language())


def _exchange_rate(facts: Facts) -> str:
    if "exchange_rate" not in facts:
        return ""
    return f"1 {facts['exchange_rate_base']} = {facts['exchange_rate']}"


def _national_tax(facts: Facts) -> str:
    if "national_currency" not in facts:
        return ""
    currency = facts["national_currency"], facts["national_minor_unit"]
    return Formats(page_language(), *currency).money(facts["national_tax_total"])


def _category(code: str) -> str:
    return str(TaxCategory(code).label) if code else ""


def _line(line: PaperLine) -> str:
    parts = [
        line["description"],
        *(line.get(name, "") for name in LINE_TEXTS),
        f"{line['quantity']} × {line['unit_price']}",  # noqa: RUF001  the sign of multiplication
        f"Discount {line['discount']}" if line["discount"] else "",
        f"Tax {line['tax']} {line['tax_name']}".strip() if line["tax"] else "",
        line["amount"],
    ]
    return "\n".join(filter(None, parts))


def _taxes(facts: Facts, paper: Paper) -> Iterator[tuple[str, str]]:
    rows = zip(
        facts["tax_breakdown"], paper["taxes"], strict=False
    )  # of lines without a rate, no row
    for number, (row, tax) in enumerate(rows, start=1):
        computed = f"{tax['taxable_amount']}: {tax['tax_amount']}"
        yield f"Tax {number}", f"{row['name']} {tax['percentage']}\n{computed}"
        yield f"Tax {number} is active", _yes_or_no(tax)
        yield f"Tax {number}, category", _category(tax.get("category", ""))
        yield f"Tax {number}, printed name", tax.get("printed_name", "")
        yield f"Tax {number}, reason", tax.get("reason", "")


def _yes_or_no(facts: Facts) -> str:
    return "yes" if facts["is_active"] else "no"
