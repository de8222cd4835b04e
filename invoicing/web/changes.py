"""The differences between two versions of a document's facts, in words for people."""
# ruff: noqa: RUF001  readers read an apostrophe and a sign of multiplication

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple, TypeVar

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from invoicing.draft_fields import DRAFT_TEXTS, LINE_TEXTS
from invoicing.languages import name_of_country, name_of_language, page_language
from invoicing.models import TaxCategory
from invoicing.paper.formats import Formats, format_day
from invoicing.paper.labels import labels_in
from invoicing.paper.layout import Paper, PaperLine, lay_out
from invoicing.paper.marking import match_lines
from invoicing.services.document_facts import Facts

_Key = TypeVar("_Key")

# What is said of each party, by the name in the facts, and whether the paper has it.
_OF_SELLER = {
    "name": (gettext_lazy("Seller"), True),
    "address": (gettext_lazy("Seller’s address"), True),
    "vat_number": (gettext_lazy("Seller’s VAT number"), True),
    "tax_number": (gettext_lazy("Seller’s tax number"), True),
    "email": (gettext_lazy("Seller’s e-mail address"), True),
    "electronic_address": (gettext_lazy("Seller’s electronic address"), False),
    "electronic_address_scheme": (
        gettext_lazy("Seller’s scheme of the electronic address"),
        False,
    ),
    "registration": (gettext_lazy("Seller’s registration"), True),
    "contact_name": (gettext_lazy("Seller’s contact"), True),
    "phone": (gettext_lazy("Seller’s phone"), True),
    "footer_text": (gettext_lazy("Seller’s footer text"), True),
}
_OF_CUSTOMER = {
    "name": (gettext_lazy("Customer"), True),
    "address": (gettext_lazy("Customer’s address"), True),
    "vat_number": (gettext_lazy("Customer’s VAT number"), True),
    "tax_number": (gettext_lazy("Customer’s tax number"), True),
    "email": (gettext_lazy("Customer’s e-mail address"), False),
    "electronic_address": (gettext_lazy("Customer’s electronic address"), False),
    "electronic_address_scheme": (
        gettext_lazy("Customer’s scheme of the electronic address"),
        False,
    ),
    "customer_number": (gettext_lazy("Customer’s customer number"), True),
}
_OF_PARTY = {"seller": _OF_SELLER, "customer": _OF_CUSTOMER}

VERSION: str | Promise = gettext_lazy("Version of the draft")


class _Statement(NamedTuple):
    """What is said of a document under a label; `key` tells statements apart in any language."""

    key: str
    label: str
    text: str
    is_on_paper: bool = True


@dataclass(frozen=True)
class Change:
    """A statement before and after; it is empty on a side that lacks it.

    `is_on_paper` tells that the paper, where it marks what changed, shows this.
    """

    label: str
    before: str
    after: str
    is_on_paper: bool = field(default=True, compare=False)


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
    papers = lay_out(before), lay_out(after)
    return [
        *_compare(_head(before, papers[0]), _head(after, papers[1])),
        *_changes_of_lines(papers[0]["lines"], papers[1]["lines"]),
        *_compare(_foot(before, papers[0]), _foot(after, papers[1])),
    ]


def _compare(before: Iterable[_Statement], after: Iterable[_Statement]) -> Iterator[Change]:
    old, new = ({each.key: each for each in side} for side in (before, after))
    texts = ({key: each.text for key, each in side.items()} for side in (old, new))
    for key, text, new_text in differ(*texts):
        told = new.get(key) or old[key]
        is_on_paper = all(side[key].is_on_paper for side in (old, new) if key in side)
        yield Change(told.label, text, new_text, is_on_paper)


def _changes_of_lines(before: Sequence[PaperLine], after: Sequence[PaperLine]) -> Iterator[Change]:
    """Yield the lines that changed, by their place on the document of now, or where they were."""
    old_number = new_number = 0
    for old, new in match_lines(before, after):
        old_number, new_number = old_number + bool(old), new_number + bool(new)
        text, new_text = (_line(each) if each else "" for each in (old, new))
        if text != new_text:
            label = _("Line %(number)d") % {"number": new_number if new else old_number}
            yield Change(label, text, new_text)


def _head(facts: Facts, paper: Paper) -> Iterator[_Statement]:
    """Yield a label and the formatted text for every fact above the lines, except IDs."""
    yield _Statement("status", _("Status"), facts["status"], is_on_paper=False)
    yield _Statement("version", str(VERSION), str(facts["lock_version"]), is_on_paper=False)
    yield from _party("seller", facts)
    yield _Statement("logo", _("Logo"), _logo(facts["seller"]), is_on_paper=False)
    bank = "\n".join(filter(None, (paper["iban"], paper["bic"])))
    yield _Statement("bank", _("Bank details"), bank)
    yield from _party("customer", facts)
    active = _yes_or_no(facts["customer"])
    yield _Statement("active", _("Customer is active"), active, is_on_paper=False)
    yield _Statement("issue_date", _("Issue date"), paper["issue_date"])
    yield _Statement("due_date", _("Due date"), paper["due_date"])
    yield from _currency(facts)
    language = name_of_language(facts["language"])
    yield _Statement("language", _("Language"), language, is_on_paper=False)
    labels = labels_in(page_language())
    yield from (_Statement(name, labels[name], facts.get(name, "")) for name in DRAFT_TEXTS)


def _foot(facts: Facts, paper: Paper) -> Iterator[_Statement]:
    """Yield the same for all below the lines."""
    yield from _taxes(facts, paper)
    yield from _later_statements(facts)
    yield _Statement("discount_total", _("Discounts"), paper["discount_total"])
    yield _Statement("net_total", _("Net total"), paper["net_total"])
    yield _Statement("tax_total", _("Tax total"), paper["tax_total"])
    yield _Statement("grand_total", _("Total"), paper["grand_total"])


def _party(role: str, facts: Facts) -> Iterator[_Statement]:
    for name, (label, is_on_paper) in _OF_PARTY[role].items():
        yield _Statement(f"{role}.{name}", str(label), facts[role].get(name, ""), is_on_paper)


def _currency(facts: Facts) -> Iterator[_Statement]:
    decimals = facts["minor_unit"]
    told = ngettext(
        "%(currency)s, %(decimals)d decimal", "%(currency)s, %(decimals)d decimals", decimals
    )
    text = told % {"currency": facts["currency_code"], "decimals": decimals}
    yield _Statement("currency", _("Currency"), text, is_on_paper=False)


def _logo(seller: Facts) -> str:
    """Return how its digest begins, since two pictures have no other name."""
    return _("Picture %(digest)s") % {"digest": seller["logo"][:8]} if "logo" in seller else ""


def _later_statements(facts: Facts) -> Iterator[_Statement]:
    """Yield what came after the first release; what is not set is empty.

    The paper says less than this of a period, of exchange rates and of lines without tax.
    """
    corrects = facts.get("corrects", {})
    told = (
        ("supply_date", _("Date of supply"), _day(facts, "supply_date"), True),
        ("supply_end_date", _("Last day of supply"), _day(facts, "supply_end_date"), True),
        ("delivery_country", _("Country of delivery"), _country(facts), True),
        ("buyer_reference", _("Buyer reference"), facts.get("buyer_reference", ""), True),
        ("exchange_rate", _("Exchange rate"), _exchange_rate(facts), False),
        ("rate_date", _("Date of the exchange rate"), _day(facts, "exchange_rate_date"), False),
        ("national_tax", _("Tax total in the currency of VAT"), _national_tax(facts), True),
        ("untaxed", _("Lines without tax"), _category(facts.get("untaxed_category", "")), False),
        (
            "untaxed_reason",
            _("Reason of lines without tax"),
            facts.get("untaxed_reason", ""),
            True,
        ),
        ("corrects", _("Corrects"), corrects.get("number", ""), False),
        ("corrects_date", _("Date of what it corrects"), _day(corrects, "issue_date"), False),
        ("reason", _("Reason of the correction"), facts.get("correction_reason", ""), False),
    )
    return (_Statement(*each) for each in told)


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
    tax = f"{line['tax']} {line['tax_name']}".strip()
    parts = [
        line["description"],
        *(line.get(name, "") for name in LINE_TEXTS),
        f"{line['quantity']} × {line['unit_price']}",
        _("Discount %(discount)s") % {"discount": line["discount"]} if line["discount"] else "",
        _("Tax %(tax)s") % {"tax": tax} if line["tax"] else "",
        line["amount"],
    ]
    return "\n".join(filter(None, parts))


def _taxes(facts: Facts, paper: Paper) -> Iterator[_Statement]:
    rows = zip(
        facts["tax_breakdown"], paper["taxes"], strict=False
    )  # of lines without a rate, no row
    for number, (row, tax) in enumerate(rows, start=1):
        computed = f"{tax['taxable_amount']}: {tax['tax_amount']}"
        # Where a name is printed in place of it, the paper does not have the name of the rate.
        text, is_shown = f"{row['name']} {tax['percentage']}\n{computed}", "printed_name" not in row
        labels = {
            "": (_("Tax %(number)d"), text, is_shown),
            "active": (_("Tax %(number)d is active"), _yes_or_no(tax), False),
            "category": (_("Tax %(number)d, category"), _category(tax.get("category", "")), False),
            "printed": (_("Tax %(number)d, printed name"), tax.get("printed_name", ""), True),
            "reason": (_("Tax %(number)d, reason"), tax.get("reason", ""), True),
        }
        for name, (label, told, is_on_paper) in labels.items():
            key = f"tax.{number}.{name}"
            yield _Statement(key, label % {"number": number}, told, is_on_paper)


def _yes_or_no(facts: Facts) -> str:
    return _("yes") if facts["is_active"] else _("no")
