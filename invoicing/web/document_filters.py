"""What the address of a list of documents, or of an export, narrows it to, and in which words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.access import Permission
from invoicing.document_approvals import name_connections
from invoicing.document_lists.filters import Author, Filters
from invoicing.identifiers import read_uuid
from invoicing.languages import page_language
from invoicing.models import Customer, Document, User
from invoicing.money import MAX_AMOUNT, SUPPORTED_CURRENCIES, minor_unit
from invoicing.paper.formats import Formats, format_day
from invoicing.web.drafts.forms import NUMBER_LENGTH, FormText, date_field
from invoicing.web.typed_numbers import MistypedNumberError, parse_typed

BACKWARDS = _("The last day comes before the first.")
SMALLER = _("The largest total is smaller than the smallest.")
NO_CURRENCY = _("Choose a currency as well: amounts of different currencies cannot be compared.")
AUTHORS = {Author.AGENT: _("Any agent"), Author.PERSON: _("People, without agents")}
MOST_PEOPLE = 200


def _amount_field(label: FormText) -> forms.CharField:
    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    return forms.CharField(label=label, required=False, max_length=NUMBER_LENGTH, widget=widget)


class FilterForm(forms.Form):
    """What is typed or chosen from short lists, amounts cleaned to minor units."""

    first_day = date_field(_("Issued from"), required=False)
    last_day = date_field(_("Until"), required=False)
    currency_code = forms.ChoiceField(
        label=_("Currency"),
        required=False,
        choices=[("", _("All")), *((code, code) for code in SUPPORTED_CURRENCIES)],
    )
    least = _amount_field(_("Total from"))
    most = _amount_field(_("Up to"))

    @override
    def clean(self) -> None:
        for name in ("least", "most"):
            self._read_amount(name)
        _check_order(self, "first_day", "last_day", BACKWARDS)
        _check_order(self, "least", "most", SMALLER)

    def _read_amount(self, name: str) -> None:
        text, code = self.cleaned_data.get(name), self.cleaned_data.get("currency_code")
        self.cleaned_data[name] = None
        if not text:
            return
        if not code:
            self.add_error(name, NO_CURRENCY)
            return
        try:
            amount = parse_typed(text, decimals=minor_unit(code))
        except MistypedNumberError as mistake:
            self.add_error(name, mistake)
        else:
            self.cleaned_data[name] = min(amount, MAX_AMOUNT)


def _check_order(form: forms.Form, first: str, last: str, problem: FormText) -> None:
    least, most = form.cleaned_data.get(first), form.cleaned_data.get(last)
    if least is not None and most is not None and most < least:
        form.add_error(last, problem)


@dataclass(frozen=True)
class Chosen:
    """The filters of an address; `kept` are its parameters, those that were understood.

    `problems` say what was not: it narrows nothing.
    """

    filters: Filters
    kept: Mapping[str, str]
    problems: list[str]


def read_filters(data: QueryDict) -> Chosen:
    """Read the filters from the parameters of an address, or of a form."""
    customer_id = read_uuid(data.get("customer", ""))
    # Links of before this release name a connection.
    writer = data.get("writer") or data.get("connection", "")
    form = FilterForm(data)
    form.is_valid()
    typed = {name: form.cleaned_data.get(name) for name in form.fields}
    asked = {**typed, **read_writer(writer), "customer_id": customer_id}
    filters = Filters(**{name: value for name, value in asked.items() if value not in {None, ""}})
    kept = {"customer": str(customer_id or ""), "writer": _name_writer(filters)}
    kept |= {name: data.get(name, "") for name in typed if name not in form.errors}
    problems = [
        f"{form.fields[name].label}: {error}"
        for name, errors in form.errors.items()
        for error in errors
    ]
    return Chosen(filters, {name: text for name, text in kept.items() if text}, problems)


def read_writer(text: str) -> dict[str, Any]:
    """Return the filter of Filters that names the writer; none for what names nobody."""
    if text in set(Author):
        return {"author": Author(text)}
    pk = read_uuid(text)
    if pk is None:
        return {}
    is_person = User.objects.filter(pk=pk).exists()
    return {"person_id" if is_person else "connection_id": pk}


def _name_writer(filters: Filters) -> str:
    return str(filters.author or filters.person_id or filters.connection_id or "")


class Chip(NamedTuple):
    """A filter as a page shows it; `value` is empty where nothing is chosen.

    `names` are its parameters in the address.
    """

    name: str
    label: str
    value: str
    names: tuple[str, ...]


def describe_filters(user: User, filters: Filters) -> list[Chip]:
    """Return the filters with what is chosen, in words that this person may read."""
    customer, writer = _describe_customer(user, filters), describe_writer(user, filters)
    amounts = ("least", "most")
    return [
        Chip("customer", gettext("Customer"), customer, ("customer",)),
        Chip("writer", gettext("Written by"), writer, ("writer", "connection")),
        Chip("days", gettext("Issue date"), _describe_days(filters), ("first_day", "last_day")),
        Chip("currency", gettext("Currency"), filters.currency_code, ("currency_code", *amounts)),
        Chip("amount", gettext("Amount"), _describe_amounts(filters), amounts),
    ]


def _describe_customer(user: User, filters: Filters) -> str:
    if filters.customer_id is None:
        return ""
    found = Customer.objects.visible_to(user).filter(pk=filters.customer_id)
    return found.values_list("name", flat=True).first() or gettext("one that you may not see")


def describe_writer(user: User, filters: Filters) -> str:
    """Return who wrote, by the name that documents give them or that the person may look up."""
    if filters.author:
        return str(AUTHORS[filters.author])
    if filters.connection_id:
        written = Document.objects.visible_to(user).filter(connection_id=filters.connection_id)
        return written.values_list("connection_name", flat=True).first() or gettext("one agent")
    if filters.person_id:
        return dict(_people(user)).get(str(filters.person_id)) or gettext("one person")
    return ""


def _describe_days(filters: Filters) -> str:
    first, last = (
        None if day is None else format_day(day) for day in (filters.first_day, filters.last_day)
    )
    return first if first and first == last else _describe_range(first, last)


def _describe_amounts(filters: Filters) -> str:
    if filters.least is None and filters.most is None:
        return ""
    formats = Formats(page_language(), filters.currency_code, minor_unit(filters.currency_code))
    least, most = (
        None if amount is None else formats.money(amount)
        for amount in (filters.least, filters.most)
    )
    return _describe_range(least, most)


def _describe_range(first: str | None, last: str | None) -> str:
    ends = {"first": first, "last": last}
    if first and last:
        return gettext("%(first)s to %(last)s") % ends
    if first:
        return gettext("from %(first)s") % ends
    return gettext("up to %(last)s") % ends if last else ""


def offer_writers(user: User, filters: Filters) -> list[tuple[str, str]]:
    """Return whom a person may choose as a writer, as pairs of value and name."""
    authors = [(str(value), str(name)) for value, name in AUTHORS.items()]
    agents = [
        (str(pk), gettext("Agent: %(name)s") % {"name": name})
        for pk, name in name_connections(user)
    ]
    offered = [*authors, *agents, *_people(user)]
    chosen = _name_writer(filters)
    if chosen and chosen not in dict(offered):
        offered.append((chosen, describe_writer(user, filters)))
    return offered


def _people(user: User) -> Iterator[tuple[str, str]]:
    """Yield the person, and colleagues if they may look these up."""
    yield str(user.pk), gettext("%(name)s (you)") % {"name": user.name}
    if user.has_perm(Permission.VIEW_PERSON):
        others = User.objects.listed().exclude(pk=user.pk).order_by("name", "pk")
        for pk, name in others.values_list("pk", "name")[:MOST_PEOPLE]:
            yield str(pk), name
