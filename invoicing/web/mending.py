"""What a document lacks, in groups of what one record lacks, and where a person may mend it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from invoicing.access import WRITE_PERMISSIONS
from invoicing.e_invoices.missing import Missing
from invoicing.models import Document, User
from invoicing.rights import cache_is_owner, may_administer

# By kind of record: what leads to it, and the permission to change it.
LINKS = {
    "company": _("Change the company"),
    "customer": _("Change the customer"),
    "taxes": _("Tax rates"),
    "rate": _("Change the tax rate"),
    "draft": _("Edit the draft"),
}
CHANGES = {
    "company": "invoices.change_company",
    "customer": "invoices.change_customer",
    "taxes": "invoices.change_taxrate",
    "rate": "invoices.change_taxrate",
}
_RECORD = attrgetter("record", "tax_rate_id")


class Flaw(NamedTuple):
    """A sentence about a record, which is one of LINKS, or "" where nobody can mend it."""

    record: str
    tax_rate_id: str
    text: str


@dataclass(frozen=True)
class Group:
    """Sentences about one record, with the page on which the person may mend it, if they may."""

    texts: list[str]
    link: str
    url: str


def flaws_of(missing: Iterable[Missing]) -> list[Flaw]:
    """Return what an e-invoice lacks, by record."""
    flaws = [Flaw(each.place, each.tax_rate_id, each.told()) for each in missing]
    return sorted(flaws, key=_RECORD)


def group_flaws(user: User, document: Document, flaws: Iterable[Flaw]) -> Iterator[Group]:
    """Yield each run of flaws of one record as a group."""
    for (record, tax_rate_id), own in groupby(flaws, key=_RECORD):
        url = _url(user, document, record, tax_rate_id)
        yield Group([each.text for each in own], str(LINKS.get(record, "")), url)


def _url(user: User, document: Document, record: str, tax_rate_id: str) -> str:
    """Return the address of the page on which this person may change the record, or ""."""
    # An issued document, and one that corrects it, keep what was frozen.
    if not record or document.is_issued or document.corrects_id:
        return ""
    if record == "draft":
        may_edit = document.is_draft_invoice and user.has_perms(WRITE_PERMISSIONS)
        return reverse("edit-draft", args=[document.pk]) if may_edit else ""
    cache_is_owner(user)
    if not may_administer(user, CHANGES[record]):
        return ""
    if record == "taxes":
        return reverse("admin:invoices_taxrate_changelist")
    if record == "rate":
        return reverse("admin:invoices_taxrate_change", args=[tax_rate_id])
    pk = document.customer_id if record == "customer" else document.seller.pk
    return reverse(f"admin:invoices_{record}_change", args=[pk])
