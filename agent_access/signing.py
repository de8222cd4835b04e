"""Whether a person has to sign what they decide, and whether they did.

An app that keeps keys of people sets `signer` (`agent_access.passkeys`, where it is installed).
Without one nothing has to be signed, and what had to be cannot be done.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Protocol
from uuid import UUID

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agent_access.facts import fingerprint_facts, fingerprint_of
from agent_access.translations import Text
from agent_access.web_sessions import digest_session

__all__ = [
    "SIGNED",
    "Act",
    "Asking",
    "Proof",
    "Purpose",
    "Refusal",
    "SignatureRefusedError",
    "Signer",
    "ask",
    "demand_of",
    "digest_decided",
    "is_signed",
    "make_options",
    "make_proof",
    "sign",
    "use_signer",
]

# The administration's event of what a person signed and did by hand, beside that of the act itself.
SIGNED = "signing:signed"
# In which member of a web session the ID of the passkey stands with which it was begun.
SESSION_PASSKEY = "passkey"

# What the acts of a day are worth, by unit: {"EUR": Decimal("1190.00")}.
Values = Mapping[str, Decimal]


class Purpose(StrEnum):
    """What a signature is for: to approve what an agent does, or to do it oneself, by hand."""

    APPROVE = "approve"
    DO = "do"


class Refusal(StrEnum):
    """Why a signature is none, as the audit names it."""

    MISSING = "missing"
    INVALID = "invalid"
    TOO_NEW = "too_new"
    NOT_APART = "not_apart"


# What the person reads: what they can do, and nothing that helps to forge one.
REASONS: Mapping[Refusal, Text] = {
    Refusal.MISSING: _("This needs your passkey, and none was used."),
    Refusal.INVALID: _(
        "The passkey did not confirm exactly this, here and now. Please look at the page again, and"
        " use your passkey once more."
    ),
    Refusal.TOO_NEW: _(
        "This passkey was added too short a time ago. Use one that you have had for longer, or wait"
        " some minutes."
    ),
    Refusal.NOT_APART: _(
        "This needs the passkey of a device that no agent can use, in a session that you began with"
        " it there. Open this page on that device."
    ),
}


class SignatureRefusedError(Exception):
    """There is no signature where one is demanded, or it does not hold; the reason is told."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal

    @property
    def reason(self) -> Text:
        return REASONS[self.refusal]

    @property
    def status(self) -> HTTPStatus:
        """What a page answers: a form without a signature lacks a field."""
        is_missing = self.refusal == Refusal.MISSING
        return HTTPStatus.UNPROCESSABLE_ENTITY if is_missing else HTTPStatus.FORBIDDEN


@dataclass(frozen=True, kw_only=True)
class Act:
    """What a person decides to do, and all that their signature binds.

    `record_id` is the approval's ID, or by hand the record's. `facts` is the canonical JSON of what
    was shown. `party` is whom the act concerns, and `value` what it is worth, in a unit;
    `earlier` counts what else the person did for the same party in the 24 hours before.
    `window` is how long a request is valid: a passkey that is younger signs nothing.
    """

    purpose: Purpose
    record_id: UUID
    person: Any
    facts: str
    window: timedelta
    nonce_digest: str = ""
    connection_id: UUID | None = None
    party: UUID | None = None
    value: tuple[str, Decimal] | None = None
    earlier: Callable[[], Values] = field(default=dict)

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self.facts)


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What a browser sends of a passkey, as JSON, and in which web session (a digest of its key).

    `session_passkey` is the ID of the passkey with which the session was begun on its own device.
    """

    assertion: str
    session: str
    session_passkey: UUID | None = None


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What a page says of a signature that its act needs.

    `lacks` is a sentence that says why this person cannot sign in this session, and what to do;
    empty if they can. `template` shows all this, with the field `assertion` of the page's form.
    `code` is a picture (SVG) that leads another device to the page.
    """

    reasons: Sequence[Text]
    lacks: Text
    is_apart: bool
    has_passkey: bool
    template: str
    code: str


class Signer(Protocol):
    """Keeps the keys and the signatures of people."""

    def demand(self, act: Act, *, lock: bool) -> str:
        """Return what signature the act needs now, as canonical JSON; empty if none.

        With `lock` nobody changes what has to be signed until the transaction ends.
        """

    def ask(self, act: Act, demand: str, proof: Proof, address: str) -> Asking:
        """Return what the page with this address says, in the session of the empty proof."""

    def make_options(self, act: Act, proof: Proof) -> Mapping[str, Any]:
        """Return what a browser needs to sign the act, in the session of the empty proof."""

    def sign(self, act: Act, demand: str, proof: Proof) -> None:
        """Verify the signature and keep it, in the transaction of the decision.

        Raises SignatureRefusedError, and then keeps nothing.
        """

    def is_signed(self, act: Act, demand: str) -> bool:
        """Return whether a kept signature over exactly this act, as demanded, still holds."""


_signers: list[Signer] = []


def use_signer(signer: Signer) -> None:
    """Let this signer say what has to be signed, in place of the former."""
    _signers[:] = [signer]


def make_proof(request: HttpRequest, assertion: str = "") -> Proof:
    """Return what the request's form says of a passkey, in the request's session."""
    try:
        passkey = UUID(request.session.get(SESSION_PASSKEY, ""))
    except (ValueError, AttributeError, TypeError):
        passkey = None
    return Proof(assertion=assertion, session=digest_session(request), session_passkey=passkey)


def demand_of(act: Act, *, lock: bool = False) -> str:
    """Return what signature the act needs now, as canonical JSON; empty if none.

    With `lock`, in a transaction, nobody changes what has to be signed until that ends. It comes
    after the locks of the act's records, and before those of the audit.
    """
    return _signers[0].demand(act, lock=lock) if _signers else ""


def ask(act: Act, request: HttpRequest, address: str) -> Asking | None:
    """Return what the page with this address says of the signature, or None if none is needed."""
    demand = demand_of(act)
    return _signers[0].ask(act, demand, make_proof(request), address) if demand else None


def make_options(act: Act, request: HttpRequest) -> Mapping[str, Any] | None:
    """Return what a browser needs to sign the act, as JSON values; None if nothing has to be."""
    return _signers[0].make_options(act, make_proof(request)) if demand_of(act) else None


def sign(act: Act, demand: str, proof: Proof | None) -> None:
    """Keep the signature that is demanded; raises SignatureRefusedError."""
    if not demand:
        return
    if proof is None or not proof.assertion or not _signers:
        raise SignatureRefusedError(Refusal.MISSING)
    _signers[0].sign(act, demand, proof)


def digest_decided(fingerprint: str, demand: str | None) -> str:
    """Return what an event keeps of a decision: the fingerprint of the facts that were decided.

    Where it had to be signed the digest covers this too, so that nobody takes it away unseen.
    """
    return (
        fingerprint_facts({"demand": demand, "fingerprint": fingerprint}) if demand else fingerprint
    )


def is_signed(act: Act, demand: str | None) -> bool:
    """Return whether the act has the signature that was demanded when it was decided.

    `demand` is None of what was decided before demands were kept, or was taken away since: then
    it counts what is demanded now.
    """
    if demand is None:
        demand = demand_of(act)
    return not demand or bool(_signers and _signers[0].is_signed(act, demand))
