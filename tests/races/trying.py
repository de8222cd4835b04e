"""Tries one pair of acts, and tells what was found in a form that other processes read."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from agent_access.models import AuditEvent
from invoicing.models import Original
from tests.races.answers import FAULT, is_refusal
from tests.races.interleaving import Interleaving
from tests.races.outcomes import Meeting, Outcome
from tests.races.table import Pair, Thing

EVENTS = AuditEvent._meta.db_table
# The service keeps these for itself: the file is the same, whoever is the first to ask for it.
ORIGINALS = Original._meta.db_table


@dataclass(kw_only=True)
class Result:
    """What came of one pair: how often they met, how, and every outcome that no order explains."""

    first: str
    second: str
    meetings: int = 0
    overtaken: int = 0
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)


def try_pair(interleaving: Interleaving, pair: Pair) -> Result:
    """Try both orders, and each of the two held for the other."""
    one, other = pair
    begun = time.monotonic()
    result = Result(first=one.name, second=other.name)
    directions = [(one, other)] if one == other else [(one, other), (other, one)]
    in_turn = [_tell(interleaving.after(*each), pair) for each in directions]
    result.findings += [f"in turn: {fault}" for each in in_turn for fault in each.faults]
    met = [(each, meeting) for each in directions for meeting in interleaving.meetings(*each)]
    result.meetings = len(met)
    result.overtaken = sum(meeting.is_overtaken for _, meeting in met)
    in_turn += [_tell(meeting.outcome, pair) for each, meeting in met if _is_order(each, meeting)]
    for each, meeting in met:
        result.findings += _judge(interleaving, each, meeting, in_turn)
    result.seconds = time.monotonic() - begun
    return result


def _is_order(pair: Pair, met: Meeting) -> bool:
    """Return whether the second act came between the parts of the first, which is an order too."""
    first, _ = pair
    return first.has_parts and met.between_parts and met.is_overtaken


def _judge(
    interleaving: Interleaving, pair: Pair, met: Meeting, in_turn: Sequence[Outcome]
) -> Iterator[str]:
    first, second = pair
    outcome = _tell(met.outcome, pair)
    place = f"{first.name}, held at statement {met.place} ({met.statement[:300]})"
    if outcome.faults or outcome not in in_turn:
        yield f"{place}, beside {second.name}: {tell_difference(outcome, in_turn)}"
    elif met.is_overtaken and second.ends and not (met.comes_late or first.goes_on):
        ended = _tell(interleaving.after(second, first), pair)
        if {**outcome.rows, ORIGINALS: []} != {**ended.rows, ORIGINALS: []}:
            yield f"{place}, after {second.name}: {tell_difference(outcome, [ended])}"


def _tell(outcome: Outcome, pair: Pair) -> Outcome:
    """Return what has to agree with one order of these acts.

    Where one of them has parts, not the places of events in chains; and where one ends something,
    or the sessions of a person, not in which words what it ended is refused: that depends on how
    far it had come.
    """
    if any(each.has_parts for each in pair):
        events = sorted((row[1:] for row in outcome.rows[EVENTS]), key=repr)
        outcome = outcome._replace(rows={**outcome.rows, EVENTS: events})
    if any(each.ends or Thing.PERSON in each.changes for each in pair):
        told = outcome.answers.items()
        answers = {name: _shorten(answer) for name, answer in told}
        outcome = outcome._replace(answers=answers)
    return outcome


def _shorten(answer: str) -> str:
    is_refused = is_refusal(answer) and not answer.startswith(FAULT)
    return "refused" if is_refused else answer


def tell_difference(outcome: Outcome, in_turn: Sequence[Outcome]) -> str:
    """Return what differs from each of the serial outcomes."""
    told = [f"answers {dict(outcome.answers)}"]
    for number, serial in enumerate(in_turn, start=1):
        if outcome.answers != serial.answers:
            told.append(f"order {number} answers {dict(serial.answers)}")
        for table, rows in outcome.rows.items():
            if rows != serial.rows[table]:
                more = [row for row in rows if row not in serial.rows[table]]
                less = [row for row in serial.rows[table] if row not in rows]
                told.append(f"order {number} differs in {table}: +{more} -{less}")
    return "; ".join(told)


def write(result: Result) -> dict[str, object]:
    return asdict(result)
