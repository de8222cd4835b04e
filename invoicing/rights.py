"""Who may administer what: the owner everything, others what Django's model permissions allow."""

from collections.abc import Collection

from django.contrib.auth.models import Permission as PermissionRow
from django.db.models import Q, QuerySet
from django.utils import timezone

from invoicing.access import IMPORT_PERMISSIONS, Permission
from invoicing.models import Company, Customer, User

OWNS = "owns_the_installation"


def cache_is_owner(user: User) -> None:
    """Cache is_owner() on this object, since a page asks it for each of its parts.

    An act of administration loads its actor again, and so never sees the cached answer.
    """
    user.__dict__.setdefault(OWNS, is_owner(user))


def is_owner(user: User) -> bool:
    """Return whether the user owns the company, as of cache_is_owner() if that was called."""
    known: bool | None = user.__dict__.get(OWNS)
    if known is not None:
        return known
    return Company.objects.filter(owner_id=user.pk).exists()


def is_administrator(user: User) -> bool:
    """Return whether the person may enter the administration at all."""
    return user.is_listed and (user.is_staff or is_owner(user))


def may_give_every_right(user: User) -> bool:
    """Return whether the person may give every right: a superuser, or the owner."""
    return is_administrator(user) and (user.is_superuser or is_owner(user))


def may_create_company(user: User) -> bool:
    return may_give_every_right(user) and not Company.objects.exists()


def may_set_up(user: User) -> bool:
    """Return whether the person sets the installation up: its owner, or who can become that."""
    return may_create_company(user) or (is_administrator(user) and is_owner(user))


def people_who_may(permissions: Collection[str]) -> QuerySet[User]:
    """Return the active people, guests aside, who have all of these permissions."""
    people = User.objects.listed()
    for name in permissions:
        app_label, _, codename = name.partition(".")
        rows = PermissionRow.objects.filter(content_type__app_label=app_label, codename=codename)
        given = Q(user_permissions__in=rows) | Q(groups__permissions__in=rows)
        having = User.objects.filter(given | Q(is_superuser=True)).values("pk")
        people = people.filter(pk__in=having)
    return people


def may_administer(user: User, permission: str) -> bool:
    """Return whether the user may do what a permission such as invoices.change_customer is for."""
    return is_administrator(user) and (user.has_perm(permission) or is_owner(user))


def may_add_customers(user: User) -> bool:
    """Return whether the user may add customers: by permission, or in the administration."""
    return user.has_perms(IMPORT_PERMISSIONS) or may_administer(user, "invoices.add_customer")


def may_change_customers(user: User) -> bool:
    """Return whether the user may change the customers that they see; as may_add_customers()."""
    return user.has_perms(IMPORT_PERMISSIONS) or may_administer(user, "invoices.change_customer")


def may_guard_customers(user: User, act: str) -> bool:
    """Return whether the user may say who sees a customer, and whether is warned of it.

    `act` is "add" or "change". That is for the administration alone; no import changes it.
    """
    permissions = (Permission.MANAGE_CUSTOMERS, f"invoices.{act}_customer")
    return any(may_administer(user, permission) for permission in permissions)


def may_change_sign_in(by: User, person: User) -> bool:
    """Return whether `by` may change how, and whether, the person signs in.

    Only the owner may change the owner's. Others may not change that of a person who has more
    rights than they do, or manages customers that they cannot see, since they could sign in as that
    person.
    """
    if is_owner(person):
        return by.pk == person.pk
    if may_give_every_right(by):
        return True
    has_more = person.is_staff or person.is_superuser or not rights_of(person) <= rights_of(by)
    return is_administrator(by) and not has_more and not _manages_unseen_customers(person, by)


def _manages_unseen_customers(person: User, by: User) -> bool:
    """Return whether the person manages a customer that `by` cannot see."""
    theirs = Customer.objects.filter(account_managers=person)
    return theirs.exclude(pk__in=Customer.objects.visible_to(by).values("pk")).exists()


def may_read_evidence(user: User) -> bool:
    """Return whether the user may read the evidence of issued documents at this moment.

    The owner and whoever holds the permission may; of guests, only an auditor whose last day in UTC
    is not over.
    """
    if not user.is_active or (user.is_guest and not _audits_today(user)):
        return False
    return user.has_perm(Permission.AUDIT) or is_owner(user)


def _audits_today(guest: User) -> bool:
    return guest.audits_until is not None and timezone.now().date() <= guest.audits_until


def rights_of(person: User) -> set[str]:
    """Return the permissions given to a person, directly or by roles, even while inactive."""
    given = PermissionRow.objects.filter(Q(user=person) | Q(group__user=person))
    names = given.values_list("content_type__app_label", "codename")
    return {f"{app_label}.{codename}" for app_label, codename in names}
