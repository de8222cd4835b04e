"""An approval and its target as they are at one moment."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.utils.functional import cached_property

from agent_access.approvals.models import ApprovalRequest
from agent_access.approvals.states import ApprovalState, state_of
from agent_access.facts import Facts, find_differences

__all__ = ["ApprovalSnapshot"]


@dataclass(frozen=True)
class ApprovalSnapshot:
    """An approval with its target, and the facts of that as they are at the moment `now`.

    Where the target is gone, it is None and has no facts. An approval that is not `is_signed`, as
    it would have to be, is none.
    """

    approval: ApprovalRequest
    target: Any
    current: Facts
    now: datetime
    is_signed: bool = True

    @cached_property
    def prepared(self) -> Facts:
        facts: Facts = orjson.loads(self.approval.facts)
        return facts

    @cached_property
    def stale_fields(self) -> list[str]:
        """The dotted paths of the facts that differ from what was prepared; none once executed."""
        if self.approval.executed_at is not None:
            return []
        return list(find_differences(self.prepared, self.current))

    @cached_property
    def state(self) -> ApprovalState:
        return state_of(
            self.approval,
            is_unchanged=not self.stale_fields,
            is_signed=self.is_signed,
            now=self.now,
        )

    @property
    def is_undecided(self) -> bool:
        """Whether the person can decide it; what was approved without its signature they cannot."""
        return self.state == ApprovalState.PENDING and not self.approval.decision
