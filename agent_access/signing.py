"""Whether a person has to sign what they decide, and whether they did.

An app that keeps keys of people sets `signer` (`agent_access.passkeys`, where it is installed).
Without one nothing has to be signed, and what had to be cannot be done.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol
from uuid import UUID

from agent_access.facts import fingerprint_of

__all__ = ["Act", "Proof", "Purpose", "SignatureRefusedError", "Signer", "demand_of", "is_signed"]

# What the acts of a day are worth, by unit: {"EUR": Decimal("1190.00")}.
Values = Mapping[str, Decimal]


class Purpose(StrEnum):
    """What a signature is for: to approve what an agent does, or to do it oneself, by hand."""

    APPROVE = "approve"
    DO = "do"


class SignatureRefusedError(Exception):
    """There is no signature where one is demanded, or it does not hold; the reason is a sentence.

    It is told to the person, and never says what a signature would have had to be.
    """


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


class Signer(Protocol):
    """Keeps the keys and the signatures of people."""

    def demand(self, act: Act) -> str:
        """Return what signature the act needs now, as canonical JSON; empty if none."""

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


def demand_of(act: Act) -> str:
    """Return what signature the act needs now, as canonical JSON; empty if none."""
    return _signers[0].demand(act) if _signers else ""


def sign(act: Act, demand: str, proof: Proof | None) -> None:
    """Keep the signature that is demanded; raises SignatureRefusedError."""
    if not demand:
        return
    if proof is None or not _signers:
        raise SignatureRefusedError
    _signers[0].sign(act, demand, proof)


def is_signed(act: Act, demand: str | None) -> bool:
    """Return whether the act has the signature that was demanded when it was decided.

    `demand` is None of what was decided before demands were kept, or was taken away since: then
    it counts what is demanded now.
    """
    if demand is None:
        demand = demand_of(act)
    return not demand or bool(_signers and _signers[0].is_signed(act, demand))
