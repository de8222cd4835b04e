"""Who may approve and administer connections, and which were approved by somebody who still may."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import QuerySet

from agent_access import conf
from agent_access.keys import from_key, to_key, user_key_kind
from agent_access.models.connections import Connection
from agent_access.policy import Policy


def may_approve(user: Any) -> bool:
    """Return whether the user is active and may approve connections."""
    return bool(user.is_active and conf.policy().may_approve(user))


def may_administer(user: Any) -> bool:
    """Return whether the user is active and may turn switches, and see and end connections."""
    return bool(user.is_active and conf.policy().may_administer(user))


def may_connect(approver: Any, user: Any) -> bool:
    """Return whether the user is among those whom this approver may connect an agent to."""
    policy = conf.policy()
    if type(policy).delegates is Policy.delegates:
        return bool(user.is_active)  # which is all that the default asks: a call costs no query
    return bool(policy.delegates(approver).filter(pk=user.pk).exists())


def find_approved(connections: Iterable[Connection]) -> set[UUID]:
    """Return the IDs of those connections whose approvers may still approve them."""
    if sole_approver_is_told():
        sole = read_sole_approver()
        return {each.id for each in connections if each.owner_id == sole}
    by_approver: dict[UUID, list[Connection]] = {}
    for each in connections:
        by_approver.setdefault(each.owner_id, []).append(each)
    return {
        each.id
        for key, approver in find_people(by_approver).items()
        if may_approve(approver)
        for each in _with_delegates(by_approver[key], approver)
    }


def find_people(keys: Iterable[UUID]) -> dict[UUID, Any]:
    """Return the users for whom keys stand, by these keys."""
    users: Any = get_user_model()
    pks = {from_key(key, user_key_kind() or UUID) for key in keys} - {None}
    found = users._default_manager.in_bulk(pks)  # noqa: SLF001  Django's public name for a swapped model's manager
    return {to_key(pk): user for pk, user in found.items()}


def only_approved(connections: QuerySet[Connection]) -> QuerySet[Connection]:
    """Return those of the connections that `find_approved` finds."""
    if sole_approver_is_told():
        sole = read_sole_approver()
        return connections.filter(owner_id=sole) if sole else connections.none()
    return connections.filter(pk__in=find_approved(connections))


def sole_approver_is_told() -> bool:
    return conf.policy().sole_approver_sql() is not None


def read_sole_approver() -> UUID | None:
    """Return the key of the only user who may approve, whom the policy's SELECT names too."""
    approver = conf.policy().default_approver()
    return to_key(approver.pk) if approver else None


def read_key(selected: Any) -> UUID | None:
    """Return a user's key from a statement written by hand: SQLite has UUIDs as text."""
    return UUID(selected) if isinstance(selected, str) else to_key(selected)


def _with_delegates(connections: list[Connection], approver: Any) -> list[Connection]:
    users = {each.user_id for each in connections}
    delegates = conf.policy().delegates(approver).filter(pk__in=users)
    allowed = set(delegates.order_by().values_list("pk", flat=True))
    return [each for each in connections if each.user_id in allowed]
