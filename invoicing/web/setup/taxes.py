"""The page that proposes tax rates by the company's country, and saves those that are confirmed."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from invoicing.administration.acts import actor_of
from invoicing.administration.setup import is_there, may_take_rates, take_rates
from invoicing.fixed_point import format_fixed_point
from invoicing.languages import is_country, name_of_country, page_language
from invoicing.models import Company
from invoicing.paper.formats import Formats, format_day
from invoicing.tax_proposals import (
    AS_OF,
    PERCENTAGES,
    UNTAXED,
    ProposedRate,
    propose_rates,
    propose_small_business,
)
from invoicing.tax_wordings import NAMES, WORDINGS
from invoicing.web.pages import SignedInRequest, page
from invoicing.web.setup.not_yours import show_not_yours

# By country, the language in which the page shows what an invoice prints; English elsewhere.
LANGUAGES = {"DE": "de", "AT": "de", "CH": "de", "FR": "fr", "LU": "fr", "BE": "fr", "ES": "es"}


@page(methods=("GET", "POST"))
def propose_taxes(request: SignedInRequest) -> HttpResponse:
    """Show the proposal (GET), and save what was ticked of it (POST)."""
    if not may_take_rates(request.user):
        # A refused form would show the proposal, and which rates there are.
        if request.method == "POST":
            raise PermissionDenied
        return show_not_yours(request)
    company = Company.objects.get()
    if request.method != "POST":
        return _show(request, company)
    chosen = request.POST.getlist("rate")
    known = {each.key: each for each in propose_rates(company.country)}
    small = propose_small_business(company.country)
    if "small" in request.POST and small:
        return _save(request, [], untaxed=small)
    if not chosen or not known.keys() >= set(chosen):
        # Nothing was ticked, or the country or the proposal is another one than was shown.
        return _show(request, company, is_refused=True)
    untaxed = UNTAXED if "untaxed" in request.POST else ""
    return _save(request, [known[key] for key in dict.fromkeys(chosen)], untaxed=untaxed)


def _save(request: SignedInRequest, rates: list[ProposedRate], *, untaxed: str) -> HttpResponse:
    made = len(take_rates(actor_of(request), rates, untaxed=untaxed))
    if rates:
        told = ngettext("%(count)d tax rate was saved.", "%(count)d tax rates were saved.", made)
        messages.success(request, told % {"count": made})
    else:
        messages.success(request, _("Saved: your company is a small business."))
    return redirect("setup")


def _show(request: SignedInRequest, company: Company, *, is_refused: bool = False) -> HttpResponse:
    language = LANGUAGES.get(company.country, "en")
    small = propose_small_business(company.country)
    has_country = is_country(company.country)
    context = {
        "company": company,
        "country": name_of_country(company.country, page_language()) if has_country else "",
        "is_known": company.country in PERCENTAGES,
        "as_of": format_day(AS_OF),
        "language": language,
        "rates": [_describe(each, language) for each in propose_rates(company.country)],
        "untaxed": NAMES[WORDINGS[UNTAXED].category][language],
        "is_untaxed_said": bool(company.untaxed_category),
        "small": WORDINGS[small].reasons.get(language, "") if small else "",
        "is_refused": is_refused,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK
    return render(request, "invoicing/setup_taxes.html", context, status=status)


def _describe(rate: ProposedRate, language: str) -> dict[str, Any]:
    formats = Formats(page_language(), "EUR", 2)
    return {
        "rate": rate,
        "percentage": formats.percentage(format_fixed_point(rate.percentage)),
        "category": rate.category.label,
        "printed": rate.reasons.get(language) or rate.names.get(language, ""),
        "is_there": is_there(rate),
    }
