"""What agents did and people decided, in words: sentences, names of kinds, and states."""

from collections.abc import Mapping
from typing import Any

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy

from agent_access.audit import OK
from agent_access.timeline.reading import REFUSED
from agent_access.tools import registry

# A sentence for what was done to one record, and to several.
SENTENCES: Mapping[str, Any] = {
    "drafts.create": ngettext_lazy(
        "%(agent)s wrote draft %(records)s",
        "%(agent)s wrote %(count)d drafts: %(records)s",
        "count",
    ),
    "drafts.update": ngettext_lazy(
        "%(agent)s changed draft %(records)s",
        "%(agent)s changed %(count)d drafts: %(records)s",
        "count",
    ),
    "documents.issue_prepare": ngettext_lazy(
        "%(agent)s asked for approval of %(records)s",
        "%(agent)s asked for approval of %(count)d documents: %(records)s",
        "count",
    ),
    "documents.issue": ngettext_lazy(
        "%(agent)s issued %(records)s",
        "%(agent)s issued %(count)d documents: %(records)s",
        "count",
    ),
    "approval:approved": ngettext_lazy(
        "%(person)s approved %(records)s",
        "%(person)s approved %(count)d documents: %(records)s",
        "count",
    ),
    "approval:rejected": ngettext_lazy(
        "%(person)s rejected %(records)s",
        "%(person)s rejected %(count)d documents: %(records)s",
        "count",
    ),
    "approval:withdrawn": ngettext_lazy(
        "%(person)s withdrew the approval of %(records)s",
        "%(person)s withdrew the approval of %(count)d documents: %(records)s",
        "count",
    ),
}
REFUSALS = ngettext_lazy(
    "%(agent)s was refused %(tool)s", "%(agent)s was refused %(tool)s %(count)d times", "count"
)

# What the filter by kind offers, and what became of it.
KINDS: Mapping[str, Any] = {
    "drafts.create": gettext_lazy("Drafts written"),
    "drafts.update": gettext_lazy("Drafts changed"),
    "documents.issue_prepare": gettext_lazy("Requests for approval"),
    "documents.issue": gettext_lazy("Documents issued"),
    "approval:approved": gettext_lazy("Approvals"),
    "approval:rejected": gettext_lazy("Rejections"),
    "approval:withdrawn": gettext_lazy("Approvals withdrawn"),
}
STATES: Mapping[str, Any] = {
    "drafts.create": gettext_lazy("Written"),
    "drafts.update": gettext_lazy("Changed"),
    "documents.issue_prepare": gettext_lazy("Asked"),
    "documents.issue": gettext_lazy("Issued"),
    "approval:approved": gettext_lazy("Approved"),
    "approval:rejected": gettext_lazy("Rejected"),
    "approval:withdrawn": gettext_lazy("Withdrawn"),
}
OUTCOMES: Mapping[str, Any] = {OK: gettext_lazy("Done"), REFUSED: gettext_lazy("Refused")}
# Of a refusal's reason, as a chip names it.
REASONS: Mapping[str, Any] = {
    "forbidden": gettext_lazy("Refused: not allowed"),
    "not_found": gettext_lazy("Refused: not found"),
    "conflict": gettext_lazy("Refused: changed meanwhile"),
    "validation_failed": gettext_lazy("Refused: wrong fields"),
    "rate_limited": gettext_lazy("Refused: too often"),
    "unavailable": gettext_lazy("Refused: not available"),
    "unauthenticated": gettext_lazy("Refused: access ended"),
    "approval_pending": gettext_lazy("Refused: not decided"),
    "approval_rejected": gettext_lazy("Refused: rejected"),
    "approval_stale": gettext_lazy("Refused: changed after asking"),
    "approval_used": gettext_lazy("Refused: done already"),
    "approval_expired": gettext_lazy("Refused: too late"),
}


def fill(sentence: Any, **values: Any) -> SafeString:
    """Put values into a sentence of ours; what is no markup yet is escaped."""
    escaped = {
        name: value if isinstance(value, int) else conditional_escape(value)
        for name, value in values.items()
    }
    told: str = sentence % escaped
    return mark_safe(told)  # noqa: S308  the sentence is ours, the values escaped


def sentence_of(action: str, count: int) -> Any:
    """Return the sentence for an act, by any tool or decision, to so many records."""
    if action in SENTENCES:
        return SENTENCES[action]
    return ngettext(
        "%(agent)s called %(tool)s for %(records)s",
        "%(agent)s called %(tool)s for %(count)d records: %(records)s",
        count,
    )


def name_kind(action: str) -> str:
    """Return what a kind of act is called; that of a tool without words here is its title."""
    tool = registry.find(action)
    return str(KINDS.get(action) or (tool.title if tool else action))


def name_outcome(outcome: str) -> str:
    return str(OUTCOMES.get(outcome) or REASONS.get(outcome) or outcome)
