"""The customers that a person may choose from: all if they are few, or those of a search."""

from dataclasses import dataclass, replace

from django.db.models import Q, QuerySet
from django.db.models.functions import Lower
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agent_access.visible_text import mark_invisible
from invoicing.access import Permission
from invoicing.identifiers import read_uuid
from invoicing.models import Customer, Document, User
from invoicing.search.paging import PageRequest
from invoicing.search.records import find_customers

LONGEST_LIST = 50
# While somebody types a name.
MOST_SUGGESTED = 10
NOBODY = gettext_lazy("There is no active customer that you may see, so no draft can be saved.")


@dataclass(frozen=True)
class CustomerChoices:
    """The customers to choose from, as pairs of ID and label; all of them, or `is_searchable`.

    `suggested` is the ID to select after a search: the one chosen before if it is among those
    found, else the only one found, else empty.
    """

    options: list[tuple[str, str]]
    search: str
    is_searchable: bool
    suggested: str
    hint: str


def choose_customers(
    user: User, document: Document | None, *, search: str, chosen: str
) -> CustomerChoices:
    """Return what the person may choose, and what the draft or the form has already."""
    offered = _offered(user).order_by(Lower("name"), "id")
    found = _search(user, search, LONGEST_LIST) if search else list(offered[: LONGEST_LIST + 1])
    is_cut = len(found) > LONGEST_LIST
    listed = found[:LONGEST_LIST] if search or not is_cut else []
    kept = _kept(user, document, chosen).exclude(pk__in=[each.pk for each in listed])
    options = [(str(each.pk), _label(each)) for each in (*kept, *listed)]
    return CustomerChoices(
        options=options,
        search=search,
        is_searchable=bool(search) or is_cut,
        suggested=_suggest(listed, search, chosen),
        hint=_hint(len(found), search, LONGEST_LIST)
        if options or search or is_cut
        else str(NOBODY),
    )


def suggest_customers(user: User, search: str) -> tuple[list[Customer], str]:
    """Return the few to choose from while somebody types, and what was found in words."""
    if search:
        found = _search(user, search, MOST_SUGGESTED)
        return found[:MOST_SUGGESTED], _hint(len(found), search, MOST_SUGGESTED)
    first = _offered(user).order_by(Lower("name"), "id")
    return list(first[:MOST_SUGGESTED]), ""


def find_offered(user: User, pk: str) -> Customer | None:
    """Return the customer with this ID, if the person may choose it for a new draft."""
    return _offered(user).filter(Q(pk=read_uuid(pk))).first()


def _offered(user: User) -> QuerySet[Customer]:
    """Return the active customers in scope, or none for a person who may not see customers."""
    if not user.has_perm(Permission.VIEW_CUSTOMER):
        return Customer.objects.none()
    return Customer.objects.visible_to(user).filter(is_active=True)


def _search(user: User, search: str, most: int) -> list[Customer]:
    """Return those found, by name: if more than `most`, one more, of those that were made first."""
    found: list[Customer] = []
    if not user.has_perm(Permission.VIEW_CUSTOMER):
        return found
    page: PageRequest | None = PageRequest(search=search, limit=most + 1)
    while page and len(found) <= most:
        more, cursor = find_customers(user, page)
        found += more
        page = replace(page, after=cursor) if cursor else None
    return sorted(found, key=lambda customer: (customer.name.casefold(), customer.id))


def _kept(user: User, document: Document | None, chosen: str) -> QuerySet[Customer]:
    of_document = Q(pk=document.customer_id) if document else Q(pk=None)
    offered = _offered(user).filter(Q(pk=read_uuid(chosen))).values("pk")
    return (
        Customer.objects.visible_to(user).filter(of_document | Q(pk__in=offered)).order_by("name")
    )


def _suggest(listed: list[Customer], search: str, chosen: str) -> str:
    ids = [str(each.pk) for each in listed]
    if not search or chosen in ids:
        return chosen
    return ids[0] if len(ids) == 1 else ""


def _hint(count: int, search: str, most: int) -> str:
    """Say what was found, of which at most `most` are listed."""
    is_cut = count > most
    if not search:
        return _("There are many customers: search for the name first.") if is_cut else ""
    if is_cut:
        return _("More than %(most)s were found. Type more of the name.") % {"most": most}
    if not count:
        return _("None was found.")
    if count == 1:
        return _("One was found.")
    return ngettext("%(count)s was found.", "%(count)s were found.", count) % {"count": count}


def _label(customer: Customer) -> str:
    """Return name and city, since two customers may share a name."""
    label = mark_invisible(", ".join(filter(None, (customer.name, customer.city))))
    return label if customer.is_active else _("%(name)s (inactive)") % {"name": label}
