"""Ownership moves, and with it ends every connection that the former owner approved."""

from uuid import UUID

from agent_access.audit import Actor
from agent_access.connections import OPERATOR, revoke_connections
from agent_access.models.connections import Connection, RevokedReason
from invoicing.administration.acts import act_of, locked_administration, write_down
from invoicing.administrators import is_owner
from invoicing.locks import lock_person
from invoicing.services.company import current_company, transfer_ownership

# What people are told of an OwnerUnfitError.
UNFIT_OWNER = "The owner must be an active person and not a guest."


def hand_over(to: UUID) -> int:
    """Make another person the owner, at the command line; return how many connections that ended.

    Raises OwnerUnfitError for guests and inactive people, Company.DoesNotExist without a company.
    """
    with locked_administration():
        return _hand_over(to, actor=OPERATOR)


def hand_over_own(actor: Actor, to: UUID) -> None:
    """Make another person the owner, as the owner.

    Raises as above, PermissionMissingError for everybody else, and RecordNotFoundError.
    """
    with act_of(actor, is_owner):
        _hand_over(to, actor=actor)


def _hand_over(to: UUID, *, actor: Actor) -> int:
    successor = lock_person(to)
    transfer_ownership(current_company(), to=successor)
    ended = revoke_connections(
        Connection.objects.all(), reason=RevokedReason.OWNER_CHANGED, by=actor
    )
    write_down("ownership:transferred", target=to, actor=actor)
    return ended
