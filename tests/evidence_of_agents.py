"""An issued document with a past, and a file of it that is kept."""

from hashlib import sha256
from typing import Any

from agent_access.approvals import engine
from agent_access.approvals.models import ApprovalRequest, Decision
from invoicing.models import Document, Original, OriginalKind
from tests.administration import ORIGIN
from tests.agents import HttpAgent
from tests.interface.issuing import execute, prepare


def issue_by_agent(agent: HttpAgent, draft_body: dict[str, Any]) -> Document:
    """Write, change, ask and be rejected, ask again and be approved, and issue.

    The first try to issue has a wrong nonce, and the one that succeeds is repeated.
    """
    created = agent.call("drafts.create", draft_body, key="create").data
    body = {**draft_body, "lock_version": 1, "reference": "PO 7"}
    agent.call("drafts.update", body, id=created["id"], key="update")
    first = prepare(agent, created["id"], lock_version=2, key="first").data
    _decide(first, Decision.REJECTED, "Wrong\nreference.")
    second = prepare(agent, created["id"], lock_version=2, key="second").data
    _decide(second, Decision.APPROVED)
    execute(agent, second, nonce="another", key="other")
    execute(agent, second)
    execute(agent, second)
    return Document.objects.get(pk=created["id"])


def _decide(prepared: Any, decision: Decision, reason: str = "") -> None:
    """Decide as the page does, with its audit event."""
    approval = ApprovalRequest.objects.get(pk=prepared["approval_id"])
    engine.decide(
        approval.delegated_user,
        approval.pk,
        decision=decision,
        fingerprint=approval.fingerprint,
        reason=reason,
        origin=ORIGIN,
    )


def keep_pdf(document: Document, content: bytes) -> Original:
    """Keep bytes as the PDF of a document, as if they had been made."""
    digest = sha256(content).hexdigest()
    kept = {"kind": OriginalKind.PDF, "content": content, "digest": digest, "made_with": {}}
    return Original.objects.create(document=document, **kept)
