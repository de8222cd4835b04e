"""Ownership moves, and with it ends every connection that the former owner approved."""

from django.db import transaction

from agent_access import audit
from agent_access.audit import Fact
from agent_access.connections import SYSTEM, revoke_connections
from agent_access.models.connections import Connection, RevokedReason
from agent_access.models.settings import AccessSettings
from invoicing.models import User
from invoicing.services.company import current_company, transfer_ownership


@transaction.atomic
def hand_over(to: User) -> int:
    """Make another person the owner; return how many connections that ended.

    Raises OwnerUnfitError for guests and inactive people, Company.DoesNotExist without a company.
    """
    AccessSettings.lock()  # no connection is being made meanwhile
    transfer_ownership(current_company(), to=to)
    ended = revoke_connections(Connection.objects.all(), reason=RevokedReason.OWNER_CHANGED)
    fact = Fact(action="ownership:transferred", origin=SYSTEM, target=str(to.id))
    audit.record_administration(fact)
    return ended
