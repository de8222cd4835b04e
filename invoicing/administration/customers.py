"""What people do to a customer by hand, on its own pages: each an act of administration."""

from uuid import UUID

from django.db.models import QuerySet

from agent_access.audit import Actor
from invoicing.access import Permission
from invoicing.administration.acts import read_actor
from invoicing.administration.records import IsAllowed, change_record, create_record
from invoicing.models import Customer, User
from invoicing.rights import may_add_customers, may_change_customers, may_guard_customers
from invoicing.services.record_changes import Changes

# What decides who sees a customer, and of whom is warned: not for everybody who may edit it.
GUARDED = frozenset({"account_managers", "is_watched"})


def create_customer(actor: Actor, changes: Changes) -> Customer:
    """Save a new customer; raises ValidationError, PermissionMissingError.

    Whoever sees their own customers only becomes its account manager, as by an import.
    """
    by, is_allowed = read_actor(actor), _guarded("add", may_add_customers, changes)
    if not by.has_perm(Permission.VIEW_ALL_CUSTOMERS):
        chosen = [each.pk for each in changes.get("account_managers", ())]
        managers = User.objects.filter(pk__in=[by.pk, *chosen])
        changes = {**changes, "account_managers": managers}
    return create_record(actor, Customer(), changes, is_allowed=is_allowed)


def change_customer(actor: Actor, pk: UUID, changes: Changes, *, seen: str) -> None:
    """Write changes of a customer whose digest_record() is still `seen`.

    Raises what change_record() does; the customer must be one that the actor sees.
    """
    change_record(
        actor,
        find_customers,
        pk,
        changes,
        seen=seen,
        is_allowed=_guarded("change", may_change_customers, changes),
    )


def find_customers(user: User) -> QuerySet[Customer]:
    return Customer.objects.visible_to(user)


def _guarded(act: str, is_allowed: IsAllowed, changes: Changes) -> IsAllowed:
    """Return the condition of an act, which is stricter if it changes what is guarded."""
    if not GUARDED & changes.keys():
        return is_allowed
    return lambda user: is_allowed(user) and may_guard_customers(user, act)
