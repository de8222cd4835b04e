"""Invoices of every way: by an agent's approval or by hand, signed or not."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agent_access import audit, conf
from agent_access.approvals import engine
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.audit import OPERATOR, SYSTEM
from agent_access.facts import canonical_json, fingerprint_of
from agent_access.passkeys.assertions import relying_party
from agent_access.passkeys.models import Passkey, Signature
from invoicing.decisions import issue_by_hand
from invoicing.models import Customer, Document, User
from invoicing.services.document_facts import read_facts
from tests.agents import HttpAgent
from tests.evidence.authenticator import SoftKey, make_es256
from tests.factories import make_draft

DEMAND = '{"always":true}'


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
        ApprovalRequest.objects.filter(pk=pk).update(demand=DEMAND if is_signed else "")
        approval = ApprovalRequest.objects.get(pk=pk)
        if is_signed:
            asked = {"approval": pk, "decision": "approved", "nonce_digest": approval.nonce_digest}
            self.sign("approve", approval.pk, approval.facts, **asked)
        engine.decide(
            self.person,
            approval.pk,
            decision=Decision.APPROVED,
            fingerprint=approval.fingerprint,
            reason="",
            origin=SYSTEM,
        )

    def issue_alone(self, *, is_signed: bool = False) -> Document:
        draft = make_draft(user=self.person, customer=self.customer)
        [facts] = read_facts([draft])
        shown = canonical_json(facts)
        if is_signed:
            self.sign("do", draft.pk, shown, record=str(draft.pk))
        return issue_by_hand(
            self.person, draft.pk, fingerprint=fingerprint_of(shown), origin=SYSTEM
        )

    def sign(self, purpose: str, record_id: UUID, facts: str, **asked: Any) -> Signature:
        return Signature.objects.create(
            purpose=purpose,
            record_id=record_id,
            person=self.person,
            passkey=self.passkey,
            facts=facts,
            fingerprint=fingerprint_of(facts),
            demand=DEMAND,
            signed_at=timezone.now(),
            **signed_columns(self.key, purpose, self.person, facts, **asked),
        )


def signed_columns(
    key: SoftKey, purpose: str, person: User, facts: str, **asked: Any
) -> dict[str, str]:
    """Return the columns of a signature that a browser's passkey would have made."""
    told = {"purpose": purpose, "user": str(person.pk), "fingerprint": fingerprint_of(facts)}
    challenge = canonical_json(told | asked | {"random": "00" * 32})
    site = {"origin": conf.base_url(), "rp_id": relying_party()}
    columns = {"challenge": challenge, "origin": site["origin"], "relying_party": site["rp_id"]}
    return columns | key.sign(challenge, **site)


def add_passkey(person: User, key: SoftKey, name: str = "Phone") -> Passkey:
    passkey = Passkey.objects.create(
        person=person,
        credential_id=key.public_key[:20],
        public_key=key.public_key,
        counter=0,
        name=name,
        added_at=timezone.now(),
    )
    with transaction.atomic():
        told = {"target": str(passkey.pk), "content_digest": key.digest}
        audit.record_act("passkey:added", OPERATOR, **told)
    return passkey
