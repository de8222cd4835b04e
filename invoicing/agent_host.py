"""What the invoicing application answers to agent access."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.conf import settings

from agent_access.errors import ToolError
from agent_access.models.connections import RevokedReason
from agent_access.tools import JSONSchema, Tool
from invoicing.agent_tools.failures import FAILURES
from invoicing.agent_tools.schemas import schema_filler
from invoicing.models import Company, User


class InvoicingHost:
    """Implements `agent_access.host.Host`."""

    def owner_id(self) -> UUID | None:
        return Company.objects.values_list("owner_id", flat=True).first()

    def delegate_problem(self, user: User) -> RevokedReason | None:
        if not user.is_active:
            return RevokedReason.USER_DEACTIVATED
        return RevokedReason.USER_BECAME_GUEST if user.is_guest else None

    def session_revision(self, user: User) -> int:
        return user.session_revision

    def in_demo_mode(self) -> bool:
        return bool(settings.DEMO_MODE)

    def failures(self) -> Mapping[type[Exception], Callable[[Any], ToolError]]:
        return FAILURES

    def schema_filler(self) -> Callable[[Tool, JSONSchema], JSONSchema]:
        return schema_filler()
