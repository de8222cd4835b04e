"""Creates and changes all records but people, as acts of administration."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Model, QuerySet

from agent_access.audit import Actor
from invoicing.administration.acts import act_of, read_actor, record_admin_act, wait_for_calls_of
from invoicing.errors import ConflictError
from invoicing.locks import lock_record
from invoicing.models import Company, Customer, DocumentType, Role, TaxRate, User
from invoicing.rights import may_create_company
from invoicing.services.customers import add_customer, rename_words
from invoicing.services.logos import keep_logo
from invoicing.services.numbering import lock_formats
from invoicing.services.record_changes import (
    Changes,
    digest_record,
    find_changed,
    tidy_changes,
    write_changes,
)
from invoicing.services.taxes import change_tax_rate

Record = TypeVar("Record", bound=Model)
IsAllowed = Callable[[User], bool]


def create_record(
    actor: Actor, record: Record, changes: Changes, *, is_allowed: IsAllowed
) -> Record:
    """Save a new record; raises ValidationError, PermissionMissingError."""
    with act_of(actor, is_allowed):
        _add(record, tidy_changes(record, changes))
        record_admin_act(_name(record, "created"), target=record.pk, actor=actor)
    return record


@transaction.atomic
def change_record(
    actor: Actor,
    find_records: Callable[[User], QuerySet[Record]],
    pk: UUID | int,
    changes: Changes,
    *,
    seen: str,
    is_allowed: IsAllowed,
) -> Model:
    """Write the changes of a record whose digest_record() is still `seen`; return it.

    It must be one of those that `find_records` returns for the actor as of now.

    For a tax rate, return the one that replaces it. Raises ValidationError, PermissionMissingError,
    RecordNotFoundError, and ConflictError if somebody else changed it meanwhile.
    """
    records = find_records(read_actor(actor))
    if issubclass(records.model, Customer):
        _rename_words(records, pk, changes)
    if issubclass(records.model, Company | TaxRate):
        # Nothing is being issued then that would freeze what it was.
        lock_formats(*DocumentType)
    with act_of(actor, is_allowed) as by:
        record = lock_record(find_records(by), pk)
        if digest_record(record) != seen:
            raise ConflictError
        changed = find_changed(record, tidy_changes(record, changes))
        if not changed:
            return record
        written = _write(record, changed)
        detail = ", ".join(changed)
        record_admin_act(_name(record, "changed"), target=written.pk, actor=actor, detail=detail)
    return written


def _rename_words(customers: QuerySet[Record], pk: UUID | int, changes: Changes) -> None:
    """Lock the customer and let it be found by its new name, if it gets one.

    That may take long, so it comes before the locks of an act, which are needed to stop agents.
    """
    customer: Any = lock_record(customers, pk)
    rename_words(customer, tidy_changes(customer, changes).get("name", customer.name))


def _add(record: Model, changes: Changes) -> None:
    if isinstance(record, Customer):
        add_customer(record, changes)
    else:
        _write_columns(record, changes)


def _write(record: Model, changes: Changes) -> Model:
    if isinstance(record, TaxRate):
        return change_tax_rate(record, changes)
    if isinstance(record, Role) and "permissions" in changes:
        wait_for_calls_of(User.objects.filter(groups=record.pk))
    _write_columns(record, changes)
    return record


def _write_columns(record: Model, changes: Changes) -> None:
    if logo := changes.get("logo"):
        keep_logo(logo)
    write_changes(record, changes)


def _name(record: Model, act: str) -> str:
    return f"{record._meta.verbose_name_raw.replace(' ', '_')}:{act}"


def create_company(actor: Actor, changes: Changes) -> Company:
    """Save the company of an installation without one; the superuser who does so is its owner.

    Raises ValidationError, PermissionMissingError.
    """
    company = Company(owner=read_actor(actor))
    return create_record(actor, company, changes, is_allowed=may_create_company)
