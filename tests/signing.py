"""Approving and issuing where a passkey is demanded, as a page's script does it over HTTP."""

from dataclasses import dataclass
from typing import Any

from django.test import Client

from agent_access.approvals.models import ApprovalRequest
from agent_access.passkeys.models import SigningRules
from tests.agents import Answer, HttpAgent
from tests.interface import issuing
from tests.passkeys import SoftPasskey, challenge_in


def demand(**rules: Any) -> None:
    """Let the owner's rules be these and no others."""
    chosen = {"always": False, "connections": [], "parties": [], "limits": {}, "apart": False}
    SigningRules.objects.update_or_create(pk=SigningRules.ONLY_ID, defaults=chosen | rules)


@dataclass(frozen=True)
class Asked:
    """A request that an agent prepared, and the browser in which its person decides it."""

    agent: HttpAgent
    desk: Client
    told: Any

    @property
    def path(self) -> str:
        return f"/approvals/{self.told['approval_id']}"

    @property
    def approval(self) -> ApprovalRequest:
        return ApprovalRequest.objects.get(pk=self.told["approval_id"])

    def challenge(self) -> bytes:
        """Return what the page's script is given to sign."""
        return challenge_in(self.desk.post(f"{self.path}/sign").json()["publicKey"])

    def approve(self, assertion: str | None = None) -> Any:
        form = {"decision": "approve", "fingerprint": self.approval.fingerprint, "reason": ""}
        if assertion is not None:
            form["assertion"] = assertion
        return self.desk.post(self.path, form)

    def sign(self, soft: SoftPasskey, **lies: Any) -> Any:
        """Approve it as the page's script does, with this passkey."""
        return self.approve(soft.sign(self.challenge(), **lies))

    def execute(self, key: str = "execute") -> Answer:
        return issuing.execute(self.agent, self.told, key=key)

    def read(self) -> Any:
        return issuing.read(self.agent, self.told)


def ask(agent: HttpAgent, desk: Client, body: Any, *, key: str = "1") -> Asked:
    """Create a draft, and ask for its issue."""
    draft = agent.call("drafts.create", body, key=f"create-{key}").data
    told = issuing.prepare(agent, draft["id"], key=f"prepare-{key}").data
    return Asked(agent, desk, told)
