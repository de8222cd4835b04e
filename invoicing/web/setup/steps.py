"""What has to be done before the first invoice, as the database says at this moment."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agent_access.models import AccessSettings, ChainHead
from invoicing.access import APPROVE_PERMISSIONS, IMPORT_PERMISSIONS
from invoicing.models import Company, Customer, DocumentType, TaxRate, User
from invoicing.paper.formats import local_date
from invoicing.rights import may_set_up, people_who_may
from invoicing.services.issue_warnings import Check, check_company
from invoicing.services.numbering import read_numbering
from invoicing.web.setup.clients import CLIENTS

NAMES_SHOWN = 3
# The parts of the company that a lawful invoice has, and what may be missing of each.
PARTS: tuple[tuple[Any, frozenset[Check]], ...] = (
    (
        gettext_lazy("Name and address"),
        frozenset({Check.COMPANY_STREET, Check.COMPANY_CITY, Check.COMPANY_COUNTRY}),
    ),
    (
        gettext_lazy("Tax number"),
        frozenset({Check.COMPANY_TAX_NUMBER, Check.COMPANY_VAT_NUMBER}),
    ),
    (gettext_lazy("Bank details"), frozenset({Check.COMPANY_BANK})),
)
TAXES = frozenset({Check.TAXES_UNKNOWN, Check.TAXES_UNTAXED})


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a step; `missing` says what it lacks, in sentences."""

    title: Any
    missing: Sequence[Any]


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step as the page shows it: what stands there now, and where it is changed.

    `url` is empty while another step has to come first; `further` has more links, by their texts.
    """

    key: str
    title: str
    told: str
    is_done: bool
    url: str = ""
    parts: Sequence[Part] = ()
    further: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class State:
    """What several steps ask: the person, the company if there is one, and what it lacks."""

    user: User
    company: Company | None
    checks: frozenset[Check]


def describe_setup(user: User) -> dict[str, Any]:
    """Return the steps, how many are done, and the first that is not, for the pages."""
    company = Company.objects.first()
    checks = frozenset(check_company(company)) if company else frozenset()
    state = State(user, company, checks)
    steps = [make(state) for make in STEPS]
    return {
        "steps": steps,
        "count": len(steps),
        "done": sum(each.is_done for each in steps),
        "next": next((each for each in steps if not each.is_done), None),
        "is_put_away": user.setup_put_away_at is not None,
    }


def describe_for_home(user: User) -> dict[str, Any] | None:
    """Return the checklist for the owner's home page; None once it is done or put away."""
    if user.setup_put_away_at is not None or not may_set_up(user):
        return None
    setup = describe_setup(user)
    return setup if setup["next"] else None


def _company(state: State) -> Step:
    title, company = _("Company"), state.company
    if company is None:
        told = _("Invoices show who they come from. Whoever adds the company is its owner.")
        url = reverse("admin:invoices_company_add")
        return Step(key="company", title=title, told=told, is_done=False, url=url)
    parts = [
        Part(title=name, missing=[each.label for each in Check if each in state.checks & about])
        for name, about in PARTS
    ]
    is_done = not any(part.missing for part in parts)
    place = ", ".join(filter(None, (company.name, company.city)))
    return Step(
        key="company",
        title=title,
        told=place,
        is_done=is_done,
        url=reverse("admin:invoices_company_change", args=[company.pk]),
        parts=() if is_done else parts,
    )


def _taxes(state: State) -> Step:
    title = _("Tax rates")
    if state.company is None:
        told = _("Proposed by the country of the company, so the company comes first.")
        return Step(key="taxes", title=title, told=told, is_done=False)
    rates = TaxRate.objects.filter(is_active=True)
    names = [*rates.order_by("-percentage_ten_thousandths", "name")[: NAMES_SHOWN + 1]]
    has_any = bool(names) or state.company.is_small_business
    missing = [each.label for each in Check if each in state.checks & TAXES]
    further = []
    if names:
        further.append((_("All rates"), reverse("admin:invoices_taxrate_changelist")))
    if missing and has_any:
        further.append((_("What taxes mean"), reverse("admin:tax-meanings")))
    return Step(
        key="taxes",
        title=title,
        told=_tell_rates(state.company, names) if has_any else _("There is no tax rate yet."),
        is_done=has_any and not missing,
        url=reverse("setup-taxes"),
        parts=[Part(title=title, missing=missing)] if missing and has_any else (),
        further=further,
    )


def _tell_rates(company: Company, rates: Sequence[TaxRate]) -> str:
    if not rates:
        return _("A small business: no line is taxed.")
    names = ", ".join(map(str, rates[:NAMES_SHOWN]))
    return _("%(names)s and more") % {"names": names} if len(rates) > NAMES_SHOWN else names


def _numbers(state: State) -> Step:
    year = local_date(timezone.now(), state.user).year
    shown = read_numbering(year)[DocumentType.INVOICE]
    number = {"number": shown.style.write(year, shown.next_value)}
    if shown.style.has_year:
        told = _("The next invoice is %(number)s. Each year starts anew.") % number
    else:
        told = _("The next invoice is %(number)s.") % number
    url = reverse("admin:invoices_numberseries_changelist")
    return Step(key="numbers", title=_("Numbers"), told=told, is_done=True, url=url)


def _people(state: State) -> Step:
    approvers = people_who_may(APPROVE_PERMISSIONS).order_by("name", "pk")[: NAMES_SHOWN + 1]
    names = [each.name for each in approvers]
    if not names:
        told = _("Nobody may approve invoices yet: give somebody “Issue documents”.")
    elif [*approvers] == [state.user]:
        told = _("Only you may approve invoices. Add people if others should, too.")
    elif len(names) > NAMES_SHOWN:
        shown = {"names": ", ".join(names[:NAMES_SHOWN])}
        told = _("%(names)s and others may approve invoices.") % shown
    else:
        told = ngettext(
            "%(names)s may approve invoices.", "%(names)s may approve invoices.", len(names)
        ) % {"names": ", ".join(names)}
    return Step(
        key="people",
        title=_("People and roles"),
        told=told,
        is_done=bool(names),
        url=reverse("admin:invoices_user_changelist"),
        further=[(_("Roles"), reverse("admin:invoices_role_changelist"))],
    )


def _customer(state: State) -> Step:
    is_done = Customer.objects.filter(is_active=True).exists()
    may_import = state.user.has_perms(IMPORT_PERMISSIONS)
    told = _("There is a customer to invoice.") if is_done else _("There is no customer yet.")
    return Step(
        key="customer",
        title=_("First customer"),
        told=told,
        is_done=is_done,
        url=address_of_new_customer(),
        further=[(_("Import a file"), reverse("import-customers"))] if may_import else (),
    )


def address_of_new_customer() -> str:
    """Return where a customer is added: the page for it, or that of the administration."""
    try:
        return reverse("new-customer")
    except NoReverseMatch:
        return reverse("admin:invoices_customer_add")


def _access(state: State) -> Step:
    title, is_on = _("Agent access"), AccessSettings.read().access_on
    if is_on:
        told = _("Agents with a live connection can call.")
    elif state.company is None:
        told = _("Only the owner of the company turns it on.")
    else:
        told = _("It is off: no agent can call.")
    url = reverse("admin:agent_access_accesssettings_changelist") if is_on else _switch()
    return Step(
        key="access",
        title=title,
        told=told,
        is_done=is_on or has_been_called(),
        url=url if state.company else "",
    )


def _switch() -> str:
    return reverse("admin:agent_access_accesssettings_switch", args=["access"])


def _connect(state: State) -> Step:
    names = " · ".join(str(each.name) for each in CLIENTS)
    is_done = has_been_called()
    told = _("An agent has called.") if is_done else names
    return Step(
        key="connect",
        title=_("Connect an agent"),
        told=told,
        is_done=is_done,
        url=reverse("connect") if state.company else "",
    )


def has_been_called() -> bool:
    """Return whether an agent has ever called a tool."""
    return ChainHead.objects.filter(last_used_at__isnull=False).exists()


STEPS: tuple[Callable[[State], Step], ...] = (
    *(_company, _taxes, _numbers, _people),
    *(_customer, _access, _connect),
)
