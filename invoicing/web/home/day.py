"""What agents did for a person today, in sentences, and what they were refused."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from itertools import groupby
from typing import Any
from uuid import UUID

from django.utils import timezone

from agent_access.activity import connections_since, read_refusals, read_writes, reason_of
from agent_access.approvals.inbox import visible_to
from agent_access.approvals.models import Decision
from agent_access.models import Connection
from agent_access.tools import registry
from invoicing.access import Permission
from invoicing.document_approvals import ISSUE
from invoicing.models import Document, User

# So many acts, the newest, are read; so many sentences are shown, each with so many links.
ACTS_READ = 200
SENTENCES_SHOWN = 12
LINKS_SHOWN = 5
REFUSALS_SHOWN = 5

# What somebody did to one document, and to several.
WORDS: Mapping[str, tuple[str, str]] = {
    "drafts.create": ("wrote draft", "wrote {count} drafts:"),
    "drafts.update": ("changed draft", "changed {count} drafts:"),
    "documents.issue_prepare": ("asked you to approve", "asked you to approve {count} documents:"),
    "documents.issue": ("issued", "issued {count} documents:"),
    Decision.APPROVED: ("approved", "approved {count} documents:"),
    Decision.REJECTED: ("rejected", "rejected {count} documents:"),
}


@dataclass(frozen=True)
class Act:
    """What an agent did to a document, or the person themselves if there is no agent."""

    at: datetime
    agent: Connection | None
    action: str
    document_id: UUID


def describe_day(user: User, local: datetime) -> dict[str, Any]:
    """Describe the day that has begun in the person's time zone, that of `local`."""
    since = datetime.combine(local.date(), time.min, local.tzinfo)
    connections = connections_since(user, since)
    sentences = list(_tell(user, _read_acts(user, connections, since=since), local))
    refused = read_refusals([each.pk for each in connections], since=since)
    names = {each.pk: each.name for each in connections}
    now = timezone.now()
    return {
        "sentences": sentences[:SENTENCES_SHOWN],
        "is_more": len(sentences) > SENTENCES_SHOWN,
        "refusals": [
            {"agent": names[each.connection_id], "refused": each, "reason": reason_of(each.code)}
            for each in refused[:REFUSALS_SHOWN]
        ],
        "refused": sum(each.count for each in refused),
        "agents": sum(each.is_live(now) for each in connections),
    }


def _read_acts(user: User, connections: Sequence[Connection], *, since: datetime) -> list[Act]:
    """Return what agents wrote and the person decided since then, the newest first."""
    acts = [
        Act(each.at, each.connection, each.tool, each.record_id)
        for each in read_writes(connections, since=since, most=ACTS_READ)
        if each.record_id
    ]
    # What was decided since then had not expired before.
    decided = visible_to(user).standing().filter(kind=ISSUE, expires_at__gte=since)
    rows = decided.filter(decided_at__gte=since).order_by("-decided_at")
    for at, decision, target in rows.values_list("decided_at", "decision", "target")[:ACTS_READ]:
        if at is not None:
            acts.append(Act(at, None, decision, target))
    return sorted(acts, key=lambda act: act.at, reverse=True)[:ACTS_READ]


def _tell(user: User, acts: Sequence[Act], local: datetime) -> Iterator[dict[str, Any]]:
    """Yield a sentence for what was done alike and one after another.

    Acts on documents that the person does not see any more are left out.
    """
    names = _find_names(user, {act.document_id for act in acts})
    seen = [act for act in acts if act.document_id in names]
    for (agent, action), alike in groupby(seen, key=lambda act: (act.agent, act.action)):
        done = list(alike)
        documents = list(dict.fromkeys(act.document_id for act in done))
        yield {
            "at": f"{done[0].at.astimezone(local.tzinfo):%H:%M}",
            "agent": agent.name if agent else "",
            "words": _word(action, len(documents)),
            "links": [(pk, names[pk]) for pk in documents[:LINKS_SHOWN]],
            "more": max(len(documents) - LINKS_SHOWN, 0),
            "times": len(done) if len(documents) == 1 else 1,
        }


def _word(action: str, count: int) -> str:
    if action not in WORDS:
        titles = {tool.name: tool.title for tool in registry}
        return f"called “{titles.get(action, action)}” for"
    one, several = WORDS[action]
    return one if count == 1 else several.format(count=count)


def _find_names(user: User, document_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return what the documents among these are called that the person may see."""
    if not user.has_perm(Permission.VIEW_DOCUMENT):
        return {}
    visible = Document.objects.visible_to(user).filter(pk__in=document_ids)
    return {each.pk: str(each) for each in visible.only("number", "draft_code")}
