"""Changes what has to be signed: the owner's act, which a passkey of theirs allows if it lowers."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from agent_access import audit
from agent_access.audit import Actor, record_act
from agent_access.facts import canonical_json, fingerprint_of
from agent_access.passkeys.assertions import AssertionRefusedError, verify_assertion
from agent_access.passkeys.challenges import make_challenge
from agent_access.passkeys.models import Challenge, Passkey, SigningRules
from agent_access.signing import Proof, Refusal, SignatureRefusedError

PURPOSE = "rules"
CHANGED, REFUSED = "signing:rules_changed", "signing:refused"
# A passkey that is younger lowers nothing, as it signs nothing.
AGE = timedelta(minutes=10)


class NoPasskeyError(Exception):
    """Whoever demands signatures needs a passkey of their own."""


def write_rules(rules: SigningRules) -> str:
    """Return all that the rules say, as canonical JSON."""
    return canonical_json(
        {
            "always": rules.always,
            "connections": sorted(rules.connections),
            "parties": sorted(rules.parties),
            "limits": rules.limits,
            "apart": rules.apart,
        }
    )


def demands_anything(rules: SigningRules) -> bool:
    return bool(rules.always or rules.connections or rules.parties or rules.limits)


def is_looser(chosen: SigningRules, former: SigningRules) -> bool:
    """Return whether any act that needs a signature by the former rules might need less of one."""
    if not demands_anything(former):
        return False
    if former.apart and not chosen.apart:
        return True
    if chosen.always:
        return False
    return (
        former.always
        or not set(former.connections) <= set(chosen.connections)
        or not set(former.parties) <= set(chosen.parties)
        or _has_higher_limits(chosen.limits, former.limits)
    )


def _has_higher_limits(chosen: dict[str, str], former: dict[str, str]) -> bool:
    """Return whether more can be done unsigned; a measure without a limit counts as above one."""
    if not former or not chosen:
        return bool(former)
    return any(
        name not in former or Decimal(limit) > Decimal(former[name])
        for name, limit in chosen.items()
    )


def ask_to_change(person: Any, chosen: SigningRules, proof: Proof) -> Challenge:
    """Return the challenge with which the person allows exactly these rules, in their session."""
    return make_challenge(
        PURPOSE, session=proof.session, person=person, rules=fingerprint_of(write_rules(chosen))
    )


def change_rules(actor: Actor, person: Any, chosen: SigningRules, proof: Proof) -> None:
    """Let these rules be those that count from now on, and audit it, in the owner's transaction.

    Raises NoPasskeyError, and SignatureRefusedError if they are looser than the former ones and the
    person's passkey did not allow exactly them.
    """
    audit.lock_administration()
    former = SigningRules.lock()
    if write_rules(chosen) == write_rules(former):
        return
    if demands_anything(chosen) and not Passkey.objects.kept_by(person).exists():
        raise NoPasskeyError
    if is_looser(chosen, former):
        _require_passkey(person, chosen, proof, is_apart=former.apart)
    chosen.pk = former.pk
    chosen.save(force_update=True)
    record_act(
        CHANGED,
        actor,
        detail=summarize(chosen),
        content_digest=fingerprint_of(write_rules(chosen)),
    )


def record_refusal(actor: Actor, refusal: SignatureRefusedError) -> None:
    """Write down, in a transaction of its own, that rules would have been lowered unsigned."""
    with transaction.atomic():
        record_act(REFUSED, actor, outcome="signature_refused", detail=refusal.refusal)


def _require_passkey(person: Any, chosen: SigningRules, proof: Proof, *, is_apart: bool) -> None:
    now = timezone.now()
    if not proof.assertion:
        raise SignatureRefusedError(Refusal.MISSING)
    try:
        asserted = verify_assertion(
            proof.assertion, PURPOSE, session=proof.session, person=person, now=now
        )
    except AssertionRefusedError:
        raise SignatureRefusedError(Refusal.INVALID) from None
    passkey = asserted.passkey
    if asserted.content["rules"] != fingerprint_of(write_rules(chosen)):
        raise SignatureRefusedError(Refusal.INVALID)
    if passkey.added_at > now - AGE:
        raise SignatureRefusedError(Refusal.TOO_NEW)
    if is_apart and not (passkey.is_apart and proof.session_passkey == passkey.pk):
        raise SignatureRefusedError(Refusal.NOT_APART)


def summarize(rules: SigningRules) -> str:
    """Return the rules in few words, for the audit: it names units, and counts all else."""
    limits = ", ".join(f"{name} {limit}" for name, limit in sorted(rules.limits.items()))
    told = (
        "always" if rules.always else "",
        f"{len(rules.connections)} connections" if rules.connections else "",
        f"{len(rules.parties)} parties" if rules.parties else "",
        f"above {limits}" if limits else "",
        "apart" if rules.apart else "",
    )
    return "; ".join(filter(None, told))[:200] or "nothing"
