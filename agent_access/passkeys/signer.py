"""Signs acts with passkeys, and tells of what was signed whether it still holds."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson
import segno
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access import conf
from agent_access.database.clock import read_clock
from agent_access.passkeys.assertions import (
    Asserted,
    AssertionRefusedError,
    still_verifies,
    verify_assertion,
)
from agent_access.passkeys.challenges import make_challenge
from agent_access.passkeys.models import Passkey, Signature, SigningRules
from agent_access.passkeys.options import assertion_options
from agent_access.passkeys.rules import SENTENCES, Reason, write_demand
from agent_access.passkeys.sites import relying_party
from agent_access.signing import (
    Act,
    Asking,
    Proof,
    Purpose,
    Refusal,
    SignatureRefusedError,
    Signer,
)
from agent_access.translations import Text

# What is decided, as it is signed.
DECISIONS = {Purpose.APPROVE: "approved", Purpose.DO: "done"}

NO_PASSKEY = _(
    "You have no passkey yet, so you cannot do this. Your account's page says how you get one."
)
NO_APART = _(
    "This needs a passkey on a device that no agent can use, such as your phone, and you have none"
    " yet. Your account's page says how you get one."
)
ANOTHER_DEVICE = _(
    "This is signed on a device that no agent can use. Open this page there, and sign in there with"
    " that device's own passkey."
)
TOO_NEW = _("Your passkey was added too short a time ago. Wait some minutes, then reload the page.")


def content_of(act: Act) -> dict[str, Any]:
    """Return what of an act is signed, as JSON values, besides the person and what is random."""
    is_approval = act.purpose == Purpose.APPROVE
    return {
        "approval": str(act.record_id) if is_approval else None,
        "record": None if is_approval else str(act.record_id),
        "nonce_digest": act.nonce_digest or None,
        "fingerprint": act.fingerprint,
        "decision": DECISIONS[act.purpose],
    }


class PasskeySigner(Signer):
    """The signer of a project that has passkeys."""

    @override
    def demand(self, act: Act, *, lock: bool) -> str:
        return write_demand(act, SigningRules.lock() if lock else SigningRules.read())

    @override
    def ask(self, act: Act, demand: str, proof: Proof, address: str) -> Asking:
        wanted = orjson.loads(demand)
        kept = list(Passkey.objects.kept_by(act.person))
        return Asking(
            reasons=[SENTENCES[Reason(each)] for each in wanted["by"]],
            lacks=_find_lack(kept, wanted, proof, read_clock(), act),
            is_apart=wanted["apart"],
            has_passkey=bool(kept),
            template="agent_passkeys/signing.html",
            code=draw_code(address),
        )

    @override
    def make_options(self, act: Act, proof: Proof) -> Mapping[str, Any]:
        challenge = make_challenge(
            act.purpose, session=proof.session, person=act.person, **content_of(act)
        )
        return assertion_options(challenge)

    @override
    def sign(self, act: Act, demand: str, proof: Proof) -> None:
        now = read_clock()
        try:
            asserted = verify_assertion(
                proof.assertion, act.purpose, session=proof.session, person=act.person, now=now
            )
        except AssertionRefusedError:
            raise SignatureRefusedError(Refusal.INVALID) from None
        if not _is_about(act, asserted.content):
            raise SignatureRefusedError(Refusal.INVALID)
        if asserted.passkey.added_at > now - act.window:
            raise SignatureRefusedError(Refusal.TOO_NEW)
        if orjson.loads(demand)["apart"] and not _is_apart(asserted.passkey, proof):
            raise SignatureRefusedError(Refusal.NOT_APART)
        _keep(act, demand, asserted, now)

    @override
    def is_signed(self, act: Act, demand: str) -> bool:
        found = Signature.objects.filter(purpose=act.purpose, record_id=act.record_id)
        # There is one at most: to sort it, as first() does, costs a third of the query.
        return any(_holds(kept, act, demand) for kept in found.select_related("passkey"))


def _holds(kept: Signature, act: Act, demand: str) -> bool:
    """Return whether a kept signature is one over exactly this act, as demanded, and by whom."""
    if kept.demand != demand or kept.facts != act.facts:
        return False
    passkey = kept.passkey
    is_apart = passkey.is_apart or not orjson.loads(demand)["apart"]
    is_theirs = kept.person_id == act.person.pk == passkey.person_id
    is_live = passkey.removed_at is None and passkey.added_at <= kept.signed_at - act.window
    return (
        is_apart
        and is_theirs
        and is_live
        and kept.fingerprint == act.fingerprint
        and still_verifies(kept)
        and _is_about(act, orjson.loads(kept.challenge))
    )


def _is_about(act: Act, content: Mapping[str, Any]) -> bool:
    """Return whether a challenge was made for exactly this act of this person."""
    expected = {**content_of(act), "purpose": act.purpose, "user": str(act.person.pk)}
    return {name: value for name, value in content.items() if name != "random"} == expected


def _is_apart(passkey: Passkey, proof: Proof) -> bool:
    """Return whether the session was begun with the passkey, on a device kept from agents."""
    return passkey.is_apart and proof.session_passkey == passkey.pk


def _keep(act: Act, demand: str, asserted: Asserted, now: datetime) -> None:
    Signature.objects.create(
        purpose=act.purpose,
        record_id=act.record_id,
        person=act.person,
        passkey=asserted.passkey,
        public_key=asserted.passkey.public_key,
        origin=conf.base_url(),
        relying_party=relying_party(),
        challenge=asserted.challenge.content,
        client_data=asserted.client_data,
        authenticator_data=asserted.authenticator_data,
        signature=asserted.signature,
        facts=act.facts,
        fingerprint=act.fingerprint,
        demand=demand,
        signed_at=now,
    )


def _find_lack(
    kept: list[Passkey], wanted: Mapping[str, Any], proof: Proof, now: datetime, act: Act
) -> Text:
    """Return why the person cannot sign in this session, as a sentence; empty if they can."""
    if not kept:
        return NO_PASSKEY
    apart = [each for each in kept if each.is_apart]
    if wanted["apart"] and not apart:
        return NO_APART
    usable = [each for each in apart if _is_apart(each, proof)] if wanted["apart"] else kept
    if not usable:
        return ANOTHER_DEVICE
    old = [each for each in usable if each.added_at <= now - act.window]
    return "" if old else TOO_NEW


def draw_code(address: str) -> str:
    """Return a QR code of the address, as SVG to stand in a page."""
    code = segno.make_qr(address)
    svg = code.svg_inline(border=4, omitsize=True, svgclass=None, lineclass=None, light="#fff")
    return mark_safe(svg)  # noqa: S308  squares only
