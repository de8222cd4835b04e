"""Invoices of every way: by an agent's approval or by hand, signed or not, as the service does."""

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from agent_access import audit, conf
from agent_access.approvals import engine
from agent_access.approvals.kinds import kinds
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.approvals.signatures import act_of
from agent_access.audit import OPERATOR, SYSTEM
from agent_access.facts import fingerprint_facts
from agent_access.passkeys.models import Challenge, Passkey
from agent_access.passkeys.signer import PasskeySigner
from agent_access.passkeys.sites import relying_party
from agent_access.signing import Act, Proof
from invoicing.decisions import issue_by_hand
from invoicing.models import Customer, Document, User
from invoicing.services.document_facts import read_facts
from invoicing.signed_issues import act_by_hand
from tests.agents import HttpAgent
from tests.evidence.authenticator import SoftKey, make_es256
from tests.factories import make_draft
from tests.signing import demand

SESSION = Proof(assertion="", session="0" * 64)
# Older than the window in which a passkey signs nothing.
AN_HOUR = timedelta(hours=1)


@dataclass
class Books:
    """Acts of one agent, and of its person, who has one passkey."""

    agent: HttpAgent
    person: User
    customer: Customer
    draft_body: dict[str, Any]
    key: SoftKey = field(default_factory=make_es256)

    def __post_init__(self) -> None:
        self.passkey = add_passkey(self.person, self.key)

    def issue_by_agent(self, *, is_signed: bool = False, **changes: Any) -> ApprovalRequest:
        name, body = str(Document.objects.count()), self.draft_body | changes
        draft = self.agent.call("drafts.create", body, key=f"draft-{name}").data
        told = self.agent.call(
            "documents.issue_prepare", {"lock_version": 1}, id=draft["id"], key=f"prepare-{name}"
        ).data
        self.approve(told["approval_id"], is_signed=is_signed)
        nonce = {"nonce": told["nonce"]}
        self.agent.call("documents.issue", nonce, id=told["approval_id"], key=f"issue-{name}")
        return ApprovalRequest.objects.get(pk=told["approval_id"], executed_at__isnull=False)

    def approve(self, pk: str, *, is_signed: bool) -> None:
        demand(always=is_signed)
        approval = ApprovalRequest.objects.get(pk=pk)
        kind = kinds.get(approval.kind)
        target = kind.find(None, approval.target, lock=False)
        proof = self.sign(act_of(kind, approval, target)) if is_signed else None
        engine.decide(
            self.person,
            approval.pk,
            decision=Decision.APPROVED,
            fingerprint=approval.fingerprint,
            reason="",
            origin=SYSTEM,
            proof=proof,
        )

    def issue_alone(self, *, is_signed: bool = False) -> Document:
        demand(always=is_signed)
        draft = make_draft(user=self.person, customer=self.customer)
        [facts] = read_facts([draft])
        proof = self.sign(act_by_hand(self.person, draft, facts)) if is_signed else None
        return issue_by_hand(
            self.person, draft.pk, fingerprint=fingerprint_facts(facts), origin=SYSTEM, proof=proof
        )

    def sign(self, act: Act) -> Proof:
        """Return what a browser sends once the person has unlocked their passkey."""
        PasskeySigner().make_options(act, SESSION)
        challenge = Challenge.objects.latest("pk").content
        made = self.key.sign(challenge, origin=conf.base_url(), rp_id=relying_party())
        names = {
            "clientDataJSON": "client_data",
            "authenticatorData": "authenticator_data",
            "signature": "signature",
        }
        response = {name: made[column] for name, column in names.items()}
        assertion = {"id": self.passkey.credential_id, "response": response}
        return replace(SESSION, assertion=json.dumps(assertion))


def add_passkey(person: User, key: SoftKey, name: str = "Phone") -> Passkey:
    """Keep a key of a person, and tell so in the audit."""
    passkey = Passkey.objects.create(
        person=person,
        credential_id=key.public_key[:20],
        public_key=key.public_key,
        counter=0,
        name=name,
        added_at=timezone.now() - AN_HOUR,
    )
    with transaction.atomic():
        told = {"target": str(person.pk), "detail": str(passkey.pk), "content_digest": key.digest}
        audit.record_act("passkey:added", OPERATOR, **told)
    return passkey
