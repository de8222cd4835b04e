"""A crowd on one stage: people and agents issue, an administrator acts, and readers look on."""

import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from agent_access.connections import rename_connection
from agent_access.models import AuditEvent
from agent_access.models.audit import ADMINISTRATION
from agent_access.verification import read_heads
from invoicing.decisions import issue_by_hand
from invoicing.models import Document, User
from tests.administration import ORIGIN
from tests.approvals import fingerprint_draft
from tests.factories import make_draft
from tests.interface.issuing import decide, execute, prepare
from tests.races.acts.agents import body_of
from tests.races.history import Head, History, Issued, Written
from tests.races.stage import Stage
from tests.threads import run_together

Record = Callable[[float, float], None]


def watch_crowd(stage: Stage, *, seconds: float) -> History:
    """Let all of them act for so long; return what they were told and what is stored."""
    beginnings = {chain: at.sequence for chain, at in read_heads().items()}
    history, until = History(beginnings=beginnings), time.monotonic() + seconds
    issuers = (stage.people.dana, stage.people.colin)
    parts = [
        *(partial(_issue_by_hand, stage, person, history) for person in issuers),
        *(partial(_issue_as_agent, stage, f"{number}", history) for number in range(2)),
        partial(_rename, stage, history),
        *[partial(_read_heads, history)] * 2,
    ]
    run_together([partial(_repeat, part, until) for part in parts])
    history.numbers, history.digests = _read_numbers(), _read_digests()
    return history


def _repeat(part: Callable[[int], None], until: float) -> None:
    for turn in count():
        if time.monotonic() > until:
            return
        part(turn)


def _issue_by_hand(stage: Stage, person: User, history: History, _: int) -> None:
    draft = make_draft(user=person, customer=stage.books.customer)
    fingerprint, begun = fingerprint_draft(draft), time.monotonic()
    issued = issue_by_hand(person, draft.pk, fingerprint=fingerprint, origin=ORIGIN)
    ended = time.monotonic()
    history.issued.append(_tell(issued, begun, ended))
    history.written.append(Written(begun, ended, ADMINISTRATION))


def _issue_as_agent(stage: Stage, name: str, history: History, turn: int) -> None:
    key, agent = f"{name}-{turn}", stage.agents.agent
    agent = type(agent)(agent.credential)  # a client is for one thread
    draft = _call(stage, history, lambda: agent.call("drafts.create", body_of(stage), key=key))
    asked = _call(stage, history, lambda: prepare(agent, draft["id"], key=f"prepare-{key}"))
    decide(asked)
    begun = time.monotonic()
    answer = _call(stage, history, lambda: execute(agent, asked, key=f"execute-{key}"))
    ended = time.monotonic()
    history.issued.append(_tell(Document.objects.get(pk=answer["document"]["id"]), begun, ended))


def _call(stage: Stage, history: History, call: Callable[[], Any]) -> Any:
    begun = time.monotonic()
    answer = call()
    history.written.append(Written(begun, time.monotonic(), str(stage.agents.connection.pk)))
    return answer.data


def _tell(document: Document, begun: float, ended: float) -> Issued:
    assert document.series_value is not None
    return Issued(begun, ended, str(document.series_id), document.series_value)


def _rename(stage: Stage, history: History, turn: int) -> None:
    by, begun = stage.acting(stage.people.owner), time.monotonic()
    rename_connection(stage.agents.connection.pk, name=f"Agent {turn}", by=by)
    history.written.append(Written(begun, time.monotonic(), ADMINISTRATION))


def _read_heads(history: History, _: int) -> None:
    begun = time.monotonic()
    heads = read_heads()
    ended = time.monotonic()
    history.heads += [
        Head(begun, ended, chain, at.sequence, at.digest) for chain, at in heads.items()
    ]


def _read_numbers() -> dict[str, list[int]]:
    numbers = defaultdict(list)
    issued = Document.objects.exclude(series=None).values_list("series_id", "series_value")
    for series, value in issued:
        numbers[str(series)].append(value or 0)
    return numbers


def _read_digests() -> dict[str, dict[int, str]]:
    digests: dict[str, dict[int, str]] = defaultdict(dict)
    for chain, sequence, digest in AuditEvent.objects.values_list("chain", "sequence", "digest"):
        digests[chain][sequence] = digest
    return digests
