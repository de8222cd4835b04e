"""What a user may see, and the permissions that decide it."""

from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from invoicing.errors import PermissionMissingError, RecordNotFoundError
from invoicing.models import Customer, Document, Team, User

_Record = TypeVar("_Record")


class Permission(StrEnum):
    """The permissions of the invoicing application, as Django's `app_label.codename`."""

    VIEW_CUSTOMER = "invoices.view_customer"
    VIEW_DOCUMENT = "invoices.view_document"
    VIEW_PERSON = "invoices.view_person"
    MANAGE = "invoices.manage"
    FINALIZE = "invoices.finalize"
    VIEW_ALL_CUSTOMERS = "invoices.view_all_customers"


# Nobody approves what they may not read, and no agent reads it for them.
APPROVE_PERMISSIONS = (Permission.VIEW_DOCUMENT, Permission.FINALIZE)
ISSUE_PERMISSIONS = (*APPROVE_PERMISSIONS, Permission.MANAGE)


def may_be_delegate(user: User) -> bool:
    """Tell whether a connection may act as this person."""
    return user.is_active and not user.is_guest


def customers_visible_to(user: User) -> QuerySet[Customer]:
    """Return the customers in the user's scope, inactive ones too."""
    if user.has_perm(Permission.VIEW_ALL_CUSTOMERS):
        return Customer.objects.all()
    return Customer.objects.filter(id__in=_managed_by(user).values("customer_id"))


def managed_customer_ids(user: User) -> list[UUID] | None:
    """Return the IDs of the customers that the user manages, or None if they may see all."""
    if user.has_perm(Permission.VIEW_ALL_CUSTOMERS):
        return None
    managed = _managed_by(user).order_by("customer_id")
    return list(managed.values_list("customer_id", flat=True))


def _managed_by(user: User) -> QuerySet[Any]:
    return Customer.account_managers.through.objects.filter(user_id=user.pk)


def documents_visible_to(user: User) -> QuerySet[Document]:
    """Return the documents of the customers in the user's scope."""
    if user.has_perm(Permission.VIEW_ALL_CUSTOMERS):
        return Document.objects.all()
    return Document.objects.filter(customer__in=customers_visible_to(user).values("id"))


def customer_condition(user: User | None, column: str) -> tuple[str, list[Any]]:
    """Return customers_visible_to as an SQL condition on a column of customer IDs, with its values.

    Without a user there is no restriction; the list of values is empty where all are visible.
    """
    if user is None or user.has_perm(Permission.VIEW_ALL_CUSTOMERS):
        return "TRUE", []
    managed = Customer.account_managers.through
    own = managed._meta.get_field("user").get_db_prep_value(user.pk, connection)
    table = managed._meta.db_table
    return f"{column} IN (SELECT customer_id FROM {table} WHERE user_id = %s)", [own]  # noqa: S608  names only


def people_listed() -> QuerySet[User]:
    """Return the active staff without guests: those for whom may_be_delegate() holds."""
    return User.objects.filter(is_active=True, is_guest=False)


def teams_listed() -> QuerySet[Team]:
    """Return the teams that are not archived."""
    return Team.objects.filter(archived_at__isnull=True)


def customer_for(user: User, pk: UUID) -> Customer:
    """Return the customer; raises RecordNotFoundError where it is missing or hidden."""
    return _found(customers_visible_to(user).filter(pk=pk).first())


def document_for(user: User, pk: UUID) -> Document:
    """Return the document; raises RecordNotFoundError where it is missing or hidden."""
    return _found(documents_visible_to(user).filter(pk=pk).first())


def require_still_allowed(user: User, pk: UUID, *permissions: Permission) -> None:
    """Check a person's permissions and scope again, after a wait for a lock.

    Raises PermissionMissingError if a permission was withdrawn or the web session ended meanwhile,
    and RecordNotFoundError if the document is out of scope by now.
    """
    anew = require_still_signed_in(user)
    if not anew.has_perms(permissions):
        raise PermissionMissingError
    document_for(anew, pk)


def require_still_signed_in(user: User) -> User:
    """Return the person as of now; raises PermissionMissingError if the web session ended."""
    anew = User.objects.get(pk=user.pk)
    if anew.session_revision != user.session_revision:
        raise PermissionMissingError
    return anew


def person_listed(pk: UUID) -> User:
    """Return the person; raises RecordNotFoundError, also for guests and inactive people."""
    return _found(people_listed().filter(pk=pk).first())


def _found(record: _Record | None) -> _Record:
    if record is None:
        raise RecordNotFoundError
    return record
