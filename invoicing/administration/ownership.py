"""Transfers the ownership, which ends all connections, since the former owner approved them."""

from uuid import UUID

from django.utils.translation import gettext_lazy as _

from agent_access.audit import OPERATOR, Actor
from agent_access.connections import revoke_connections
from agent_access.models.connections import Connection, RevokedReason
from invoicing.administration.acts import act_of, locked_administration, record_admin_act
from invoicing.errors import OwnerUnfitError
from invoicing.locks import lock_person
from invoicing.models import Company
from invoicing.rights import is_owner

# The message for an OwnerUnfitError.
UNFIT_OWNER = _("The owner must be an active person and not a guest.")


def transfer_ownership(actor: Actor, to: UUID) -> None:
    """Make another person the owner; only the owner may.

    Raises PermissionMissingError for anybody else, RecordNotFoundError where there is no such
    person, and OwnerUnfitError for guests and inactive people.
    """
    with act_of(actor, is_owner):
        _transfer(to, actor=actor)


def transfer_ownership_as_operator(to: UUID) -> int:
    """Make another person the owner from the command line; return how many connections ended.

    Raises RecordNotFoundError and OwnerUnfitError as above, and Company.DoesNotExist where there
    is no company yet.
    """
    with locked_administration():
        return _transfer(to, actor=OPERATOR)


def _transfer(to: UUID, *, actor: Actor) -> int:
    successor, company = lock_person(to), Company.objects.get()
    if not successor.is_listed:
        raise OwnerUnfitError
    company.owner = successor
    company.save(update_fields=["owner"])
    ended = revoke_connections(
        Connection.objects.all(), reason=RevokedReason.OWNER_CHANGED, by=actor
    )
    record_admin_act("ownership:transferred", target=to, actor=actor)
    return ended
