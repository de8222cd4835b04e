"""A rule comes into force while somebody approves: it counts for all who are not done by then."""

from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from agent_access import signing
from agent_access.approvals import engine
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.audit import Actor
from agent_access.models import AccessSettings
from agent_access.passkeys.models import Signature, SigningRules
from agent_access.passkeys.ruling import change_rules
from agent_access.signing import Proof, SignatureRefusedError
from invoicing.services.drafts import ConnectionRef
from tests.administration import ORIGIN
from tests.approvals import Prepared, prepare
from tests.factories import make_draft
from tests.passkeys import SoftPasskey
from tests.threads import Encounter, run_together

pytestmark = [
    pytest.mark.postgresql,  # SQLite has one writer at a time
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture(params=["no rules yet", "rules that demand nothing"])
def prepared(request, delegate, connection, owner) -> Prepared:
    SoftPasskey().keep_for(owner)
    if request.param != "no rules yet":
        SigningRules.objects.create()
    maker = ConnectionRef(connection.id, connection.name)
    return prepare(make_draft(user=delegate), user=delegate, connection=maker, now=timezone.now())


def approve(prepared: Prepared) -> str:
    approval = prepared.approval
    try:
        engine.decide(
            prepared.user,
            approval.pk,
            decision=Decision.APPROVED,
            fingerprint=approval.fingerprint,
            reason="",
            origin=ORIGIN,
        )
    except SignatureRefusedError as refusal:
        return refusal.refusal
    return "approved"


def demand_all(owner: Any, encounter: Encounter | None = None) -> str:
    with transaction.atomic():
        AccessSettings.lock()
        chosen = SigningRules(always=True)
        change_rules(Actor(ORIGIN, owner.pk), owner, chosen, Proof(assertion="", session=""))
        if encounter:
            encounter.wait_here()
    return "demanded"


def test_who_approves_while_a_rule_is_made_has_to_sign(prepared, owner):
    encounter = Encounter()
    outcomes = run_together(
        [
            lambda: demand_all(owner, encounter),
            lambda: encounter.come(lambda: approve(prepared)),
        ]
    )
    assert outcomes == ["demanded", "missing"]
    assert ApprovalRequest.objects.get().decision == ""
    assert not Signature.objects.exists()


def test_a_rule_waits_for_who_approves_before_it(prepared, owner, monkeypatch):
    encounter, sign, done = Encounter(), signing.sign, []

    def sign_slowly(*args: Any) -> None:
        done.append(encounter.wait_here())
        sign(*args)

    monkeypatch.setattr(signing, "sign", sign_slowly)
    outcomes = run_together(
        [lambda: approve(prepared), lambda: encounter.come(lambda: demand_all(owner))]
    )
    assert outcomes == ["approved", "demanded"]
    assert done == [False]  # the rule had to wait
    assert ApprovalRequest.objects.get().demand == ""
