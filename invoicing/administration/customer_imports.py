"""The import of customers, as one act."""

import hashlib
from collections.abc import Generator, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from agent_access.audit import Actor
from invoicing.access import IMPORT_PERMISSIONS, Permission
from invoicing.administration.acts import act_of, read_actor, record_admin_act
from invoicing.customer_imports.planning import Outcome, PlannedRow
from invoicing.customer_imports.waiting import find_waiting, in_batches, plan_import, take_turn
from invoicing.errors import ConflictError, PermissionMissingError, RecordNotFoundError
from invoicing.models import Customer, User
from invoicing.services.customers import create_customers, save_customers


class Progress(NamedTuple):
    """How many of the customers are written."""

    done: int
    total: int


def import_customers(actor: Actor, pk: UUID, *, seen: str) -> Generator[Progress]:
    """Do what the file's plan says if its digest is still `seen`; yield how far it is.

    All is one transaction: whoever stops before the end takes everything back. Customers are locked
    before the locks of an act, which are needed to stop agents and are held for a moment only.

    Raises RecordNotFoundError, also if the file is given up or replaced meanwhile,
    PermissionMissingError, and ConflictError for another plan.
    """
    with transaction.atomic():
        by = read_actor(actor)
        if not by.has_perms(IMPORT_PERMISSIONS):
            raise PermissionMissingError
        take_turn()
        waiting = find_waiting(by, pk)
        plan = plan_import(by, waiting, locks=True)
        if plan.digest() != seen:
            raise ConflictError
        new, changed = plan.having(Outcome.NEW), plan.having(Outcome.CHANGED)
        done, total = 0, len(new) + len(changed)
        for write, rows in ((_create, new), (_save, changed)):
            for batch in in_batches(rows):
                yield Progress(done, total)
                write(by, batch)
                done += len(batch)
        with act_of(actor, lambda still: _has_same_reach(still, by)):
            deleted, _ = waiting.delete()
            if not deleted:
                raise RecordNotFoundError
            digest = hashlib.sha256(waiting.content).hexdigest()
            detail = f"new {len(new)}, changed {len(changed)}, sha256 {digest}"
            record_admin_act("customers:imported", target=pk, actor=actor, detail=detail)
    yield Progress(done, total)


def _has_same_reach(still: User, by: User) -> bool:
    sees_all = Permission.VIEW_ALL_CUSTOMERS
    return still.has_perms(IMPORT_PERMISSIONS) and still.has_perm(sees_all) == by.has_perm(sees_all)


def _create(by: User, rows: Sequence[PlannedRow]) -> None:
    customers = create_customers([row.customer for row in rows])
    # Who sees only their own customers becomes the account manager of those that they add.
    if not by.has_perm(Permission.VIEW_ALL_CUSTOMERS):
        link = Customer.account_managers.through
        link.objects.bulk_create(link(customer=each, user=by) for each in customers)


def _save(by: User, rows: Sequence[PlannedRow]) -> None:
    old_names = {row.customer.pk: row.changes["name"][0] for row in rows if "name" in row.changes}
    fields = {name for row in rows for name in row.changes}
    save_customers([row.customer for row in rows], fields=fields, old_names=old_names)
