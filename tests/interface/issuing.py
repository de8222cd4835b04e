"""The way of a draft to its number, as an agent and the delegated person walk it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from agent_access.approvals.engine import write_decision
from agent_access.approvals.models import ApprovalRequest, Decision
from tests.agents import Answer, HttpAgent

Told = Mapping[str, Any]


def prepare(
    agent: HttpAgent, document_id: UUID | str, *, lock_version: int = 1, key: str = "prepare"
) -> Answer:
    arguments = {"lock_version": lock_version}
    return agent.call("documents.issue_prepare", arguments, id=document_id, key=key)


def decide(prepared: Told, decision: Decision = Decision.APPROVED, *, reason: str = "") -> None:
    """Decide as the delegated person, about what the approval's page shows."""
    approval = ApprovalRequest.objects.get(pk=prepared["approval_id"])
    write_decision(
        approval.delegated_user,
        approval.pk,
        decision=decision,
        fingerprint=approval.fingerprint,
        reason=reason,
        clock=timezone.now,
    )


def execute(
    agent: HttpAgent, prepared: Told, *, key: str = "execute", nonce: str | None = None
) -> Answer:
    arguments = {"nonce": prepared["nonce"] if nonce is None else nonce}
    return agent.call("documents.issue", arguments, id=prepared["approval_id"], key=key)


def read(agent: HttpAgent, prepared: Told) -> Any:
    """Return what the agent is told of the approval now."""
    return agent.call("approvals.get", id=prepared["approval_id"]).data
