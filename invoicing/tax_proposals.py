"""The tax rates that are proposed to a new company, by its country.

Percentages of EU members: European Commission, "VAT rules and rates: standard, special and reduced
rates" (europa.eu/youreurope) and its database TEDB; of Switzerland: Federal Tax Administration,
rates from 2024 on; of the United Kingdom: HM Revenue and Customs, "VAT rates" (gov.uk). All as of
AS_OF. They are proposals: a person sees them, and confirms or leaves each before it is saved.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from invoicing.fixed_point import SCALE
from invoicing.models import TaxCategory
from invoicing.tax_wordings import NAMES, WORDINGS, Texts
from invoicing.vat_area import EU_VAT_AREA

AS_OF = date(2026, 1, 1)

# A text, or what gettext_lazy makes of one.
Text = str | Promise

# In hundredths of a percent, the standard rate first.
PERCENTAGES: Mapping[str, tuple[int, ...]] = {
    "AT": (2000, 1300, 1000),
    "BE": (2100, 1200, 600),
    "CH": (810, 380, 260),
    "CZ": (2100, 1200),
    "DE": (1900, 700),
    "DK": (2500,),
    "ES": (2100, 1000, 400),
    "FR": (2000, 1000, 550, 210),
    "GB": (2000, 500),
    "HR": (2500, 1300, 500),
    "IE": (2300, 1350, 900, 480),
    "IT": (2200, 1000, 500, 400),
    "LU": (1700, 1400, 800, 300),
    "NL": (2100, 900),
    "PL": (2300, 800, 500),
    "PT": (2300, 1300, 600),
    "SE": (2500, 1200, 600),
    "SI": (2200, 950, 500),
}
_TEN_THOUSANDTHS = SCALE // 100

# The rates without tax, by the keys of tax_wordings.WORDINGS.
_OF_EU = ("reverse-charge-services", "intra-community", "export", "E", "service-abroad")
_ELSEWHERE = ("G", "E", "O")
_FREE: Mapping[str, tuple[str, ...]] = {
    "DE": (
        *("reverse-charge-services", "reverse-charge-german"),
        *("intra-community-german", "export-german", "E", "service-abroad"),
    ),
    "IE": ("Z", *_OF_EU),
    "GB": ("Z", *_ELSEWHERE),
}
_SMALL_BUSINESS = {
    "AT": "small-austrian",
    "CH": "small-swiss",
    "DE": "small-german",
    "FR": "small-french",
    "ES": "",  # has no such exemption
}
# What a line without a rate means to a business that charges VAT.
UNTAXED = "O"

_STANDARD, _REDUCED = _("Standard rate"), _("Reduced rate")
_FREE_NAMES: Mapping[str, Text] = {
    TaxCategory.ZERO: _("Zero rate"),
    TaxCategory.REVERSE_CHARGE: _("Reverse charge"),
    TaxCategory.INTRA_COMMUNITY: _("Intra-community supply"),
    TaxCategory.EXPORT: pgettext_lazy("tax rate", "Export"),
    TaxCategory.EXEMPT: _("Exempt"),
    TaxCategory.OUTSIDE_SCOPE: _("Outside the scope of VAT"),
}


@dataclass(frozen=True, kw_only=True)
class ProposedRate:
    """A tax rate as it would be saved, of so many ten-thousandths of a percent.

    `wording` is its key among WORDINGS; `key` names it in forms, with what it is worth, so that
    nobody confirms another percentage than they saw.
    """

    name: Text
    percentage: int
    wording: str

    @property
    def key(self) -> str:
        return f"{self.wording}-{self.percentage}"

    @property
    def category(self) -> TaxCategory:
        return WORDINGS[self.wording].category

    @property
    def names(self) -> Texts:
        return NAMES[self.category]

    @property
    def reasons(self) -> Texts:
        return WORDINGS[self.wording].reasons


def propose_rates(country: str) -> list[ProposedRate]:
    """Return the rates of a country (ISO 3166); of one that is not known, those without tax."""
    return [*_taxed(country), *_free(country)]


def _taxed(country: str) -> Iterator[ProposedRate]:
    for place, hundredths in enumerate(PERCENTAGES.get(country, ())):
        name = _REDUCED if place else _STANDARD
        yield ProposedRate(name=name, percentage=hundredths * _TEN_THOUSANDTHS, wording="S")


def _free(country: str) -> Iterator[ProposedRate]:
    usual = _OF_EU if country in EU_VAT_AREA else _ELSEWHERE
    for wording in _FREE.get(country, usual):
        name = _FREE_NAMES[WORDINGS[wording].category]
        if wording == "reverse-charge-german":
            name = _("Reverse charge in Germany")
        yield ProposedRate(name=name, percentage=0, wording=wording)


def propose_small_business(country: str) -> str:
    """Return the wording by which a small business there charges no tax; "" where there is none."""
    return _SMALL_BUSINESS.get(country, "small" if country in EU_VAT_AREA else "")
