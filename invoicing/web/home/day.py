"""What agents did for a person today, in sentences, and what they were refused."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from itertools import groupby
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext, ngettext_lazy

from agent_access.activity import connections_since, read_refusals, read_writes, reason_of
from agent_access.approvals.inbox import visible_to
from agent_access.approvals.models import Decision
from agent_access.models import Connection
from agent_access.templatetags.texts import isolate
from agent_access.tools import registry
from invoicing.access import Permission
from invoicing.document_approvals import ISSUE
from invoicing.models import Document, User

# So many acts, the newest, are read; so many sentences are shown, each with so many links.
ACTS_READ = 200
SENTENCES_SHOWN = 12
LINKS_SHOWN = 5
REFUSALS_SHOWN = 5

# Documents, each with what it is called.
Named = Sequence[tuple[UUID, str]]

# What an agent did to one document, and to several: told with `agent`, `count` and `documents`.
WORDS: Mapping[str, Any] = {
    "drafts.create": ngettext_lazy(
        "{agent} wrote draft {documents}", "{agent} wrote {count} drafts: {documents}"
    ),
    "drafts.update": ngettext_lazy(
        "{agent} changed draft {documents}", "{agent} changed {count} drafts: {documents}"
    ),
    "documents.issue_prepare": ngettext_lazy(
        "{agent} asked you to approve {documents}",
        "{agent} asked you to approve {count} documents: {documents}",
    ),
    "documents.issue": ngettext_lazy(
        "{agent} issued {documents}", "{agent} issued {count} documents: {documents}"
    ),
}
# And what the person themselves decided.
DECIDED: Mapping[str, Any] = {
    Decision.APPROVED: ngettext_lazy(
        "You approved {documents}", "You approved {count} documents: {documents}"
    ),
    Decision.REJECTED: ngettext_lazy(
        "You rejected {documents}", "You rejected {count} documents: {documents}"
    ),
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
            "sentence": _say(agent, action, [(pk, names[pk]) for pk in documents]),
            "times": len(done) if len(documents) == 1 else 1,
        }


def _say(agent: Connection | None, action: str, documents: Named) -> SafeString:
    """Return the markup of a sentence about documents, each with what it is called."""
    count, linked = len(documents), _link(documents)
    if agent is None:
        return format_html(str(DECIDED[action] % count), count=count, documents=linked)
    name = format_html('<span class="quiet">{}</span>', isolate(agent.name))
    if action in WORDS:
        sentence = str(WORDS[action] % count)
        return format_html(sentence, agent=name, count=count, documents=linked)
    titles = {tool.name: tool.title for tool in registry}
    title = titles.get(action, action)
    other = gettext("{agent} called “{title}” for {documents}")
    return format_html(other, agent=name, title=title, documents=linked)


def _link(documents: Named) -> SafeString:
    """Return links to the first of the documents, and how many more there are."""
    link = '<a class="record" href="{}">{}</a>'
    shown = [(reverse("document", args=[pk]), name) for pk, name in documents[:LINKS_SHOWN]]
    linked = format_html_join(", ", link, shown)
    more = len(documents) - len(shown)
    if more <= 0:
        return linked
    told = ngettext("{documents} and {count} more", "{documents} and {count} more", more)
    return format_html(told, documents=linked, count=more)


def _find_names(user: User, document_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return what the documents among these are called that the person may see."""
    if not user.has_perm(Permission.VIEW_DOCUMENT):
        return {}
    visible = Document.objects.visible_to(user).filter(pk__in=document_ids)
    return {each.pk: str(each) for each in visible.only("number", "draft_code")}
