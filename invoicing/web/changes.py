"""The differences between two versions of a document's facts, in words for people."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from invoicing.draft_fields import DRAFT_TEXTS, LINE_TEXTS
from invoicing.languages import name_of_language
from invoicing.services.document_facts import Facts
from invoicing.web.paper_labels import labels_in
from invoicing.web.papers import Paper, PaperLine, lay_out

_Key = TypeVar("_Key")


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
    yield "Version of the draft", str(facts["lock_version"])
    yield from _party("Seller", facts["seller"])
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
    yield from _taxes(paper)
    yield "Discounts", paper["discount_total"]
    yield "Net total", paper["net_total"]
    yield "Tax total", paper["tax_total"]
    yield "Total", paper["grand_total"]


def _party(role: str, party: Facts) -> Iterator[tuple[str, str]]:
    yield role, party["name"]
    yield f"{role}’s address", party["address"]  # noqa: RUF001  an apostrophe for readers
    yield f"{role}’s VAT number", party["vat_number"]  # noqa: RUF001  an apostrophe for readers


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


def _taxes(paper: Paper) -> Iterator[tuple[str, str]]:
    for number, tax in enumerate(paper["taxes"], start=1):
        computed = f"{tax['taxable_amount']}: {tax['tax_amount']}"
        yield f"Tax {number}", f"{tax['name']} {tax['percentage']}\n{computed}"
        yield f"Tax {number} is active", _yes_or_no(tax)


def _yes_or_no(facts: Facts) -> str:
    return "yes" if facts["is_active"] else "no"
