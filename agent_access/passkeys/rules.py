"""What has to be signed, by the rules that the owner chose."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from django.utils.translation import gettext_lazy as _

from agent_access.facts import canonical_json
from agent_access.passkeys.models import SigningRules
from agent_access.signing import Act
from agent_access.translations import Text


class Reason(StrEnum):
    """Which rule demands a signature, as it is kept with what was signed."""

    ALWAYS = "always"
    CONNECTION = "connection"
    PARTY = "party"
    VALUE = "value"


# What the person reads.
SENTENCES: Mapping[Reason, Text] = {
    Reason.ALWAYS: _("Everything of this kind is signed."),
    Reason.CONNECTION: _("Everything that this agent does is signed."),
    Reason.PARTY: _("Everything for this party is signed."),
    Reason.VALUE: _(
        "Together with what you approved or did for them in the last 24 hours, it is above the"
        " limit up to which nothing has to be signed."
    ),
}


def write_demand(act: Act, rules: SigningRules) -> str:
    """Return what signature the rules demand for the act, as canonical JSON; empty if none."""
    reasons = list(_find_reasons(act, rules))
    if not reasons:
        return ""
    return canonical_json({"apart": rules.apart, "by": sorted(reasons)})


def _find_reasons(act: Act, rules: SigningRules) -> Iterator[Reason]:
    if rules.always:
        yield Reason.ALWAYS
    if act.connection_id is not None and str(act.connection_id) in rules.connections:
        yield Reason.CONNECTION
    if act.party is not None and str(act.party) in rules.parties:
        yield Reason.PARTY
    if rules.limits and act.value is not None and _is_above(act, *act.value, rules.limits):
        yield Reason.VALUE


def _is_above(act: Act, name: str, value: Decimal, limits: Mapping[str, str]) -> bool:
    """Return whether the day's acts for the same party together are above the limits.

    Those in several units use up shares of their limits, which add up: another measure gets around
    nothing. A measure without a limit is above.
    """
    totals = dict(act.earlier())
    totals[name] = totals.get(name, Decimal(0)) + value
    if not totals.keys() <= limits.keys():
        return True
    shares = Fraction(0)
    for each, total in totals.items():
        limit = Fraction(limits[each])
        if total > limit:
            return True
        shares += Fraction(total) / limit if limit else 0
    return shares > 1
