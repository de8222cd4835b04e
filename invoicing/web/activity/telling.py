"""The timeline: what was done alike and one after another is one sentence, day by day."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agent_access.approvals.models import ApprovalRequest
from agent_access.models import Connection
from agent_access.templatetags.texts import isolate
from agent_access.timeline.reasons import explain_refusal
from agent_access.timeline.sources import Act, Kind
from invoicing.access import Permission
from invoicing.agent_tools.record_names import find_names
from invoicing.languages import page_language
from invoicing.models import Document, User
from invoicing.paper.formats import Formats, format_day, local_date, time_zone_of
from invoicing.web.activity.words import REFUSALS, STATES, fill, sentence_of

LINKS_SHOWN = 5
# What is read of a document to name it and its worth.
COLUMNS = (
    *("number", "draft_code", "status", "currency_code", "minor_unit", "grand_total"),
    *("buyer_name", "customer__name"),
)


@dataclass(frozen=True)
class Known:
    """What the viewer may know of the acts of a page.

    `names` are those of records by ID, `visible` the documents that they may open, and `reasons`
    those of rejections by the ID of the approval.
    """

    viewer: User
    sees_all: bool
    connections: Mapping[UUID, Connection]
    names: Mapping[UUID, str]
    visible: Mapping[UUID, Document]
    reasons: Mapping[UUID, str]


def describe_days(viewer: User, acts: Sequence[Act], *, sees_all: bool) -> list[dict[str, Any]]:
    """Describe acts, the newest first, by day in the viewer's zone.

    Acts on records that the viewer does not see are left out; who administers agents reads their
    numbers, without a link, as in the audit.
    """
    zone = time_zone_of(viewer)
    known = _look_up(viewer, acts, sees_all=sees_all)
    seen = [act for act in acts if act.record_id is None or act.record_id in known.names]
    today = datetime.now(zone).date()
    days = groupby(seen, key=lambda act: act.at.astimezone(zone).date())
    return [
        {"label": _name_day(day, today), "rows": list(_tell(list(done), known))}
        for day, done in days
    ]


def _name_day(day: date, today: date) -> str:
    if day == today:
        return _("Today")
    return _("Yesterday") if (today - day).days == 1 else format_day(day)


def _look_up(viewer: User, acts: Sequence[Act], *, sees_all: bool) -> Known:
    """Read what the acts of a page name, in a few queries however many they are."""
    ids = {act.record_id for act in acts if act.record_id}
    visible = _find_visible(viewer, ids)
    names = {pk: str(document) for pk, document in visible.items()}
    if sees_all:
        names = {
            **dict.fromkeys(ids, _("a record that no longer exists")),
            **find_names(ids, viewer),
        }
    decided = {act.approval_id for act in acts if act.approval_id and act.record_id in visible}
    rejected = ApprovalRequest.objects.filter(pk__in=decided).exclude(rejection_reason="")
    connections = Connection.objects.select_related("user")
    return Known(
        viewer,
        sees_all,
        connections.in_bulk({act.connection_id for act in acts}),
        names,
        visible,
        dict(rejected.values_list("pk", "rejection_reason")),
    )


def _find_visible(viewer: User, ids: Collection[UUID]) -> dict[UUID, Document]:
    if not viewer.has_perm(Permission.VIEW_DOCUMENT):
        return {}
    found = Document.objects.visible_to(viewer).filter(pk__in=ids)
    return {each.pk: each for each in found.select_related("customer").only(*COLUMNS)}


def _tell(acts: Sequence[Act], known: Known) -> Iterator[dict[str, Any]]:
    """Yield a row for what was done alike and one after another on one day."""
    for _alike, group in groupby(
        acts, key=lambda act: (act.connection_id, act.kind, act.action, act.outcome)
    ):
        yield _describe_run(list(group), known)


def _describe_run(run: Sequence[Act], known: Known) -> dict[str, Any]:
    last = run[0]
    connection = known.connections[last.connection_id]
    is_refusal = last.kind is Kind.REFUSAL
    told = _tell_refusal(run, connection, known) if is_refusal else _tell_done(run, known)
    return {
        "at": last.at,
        "clock": f"{last.at.astimezone(time_zone_of(known.viewer)):%H:%M}",
        "details": [*told["details"], *_tell_person(connection, known)],
        "sentence": told["sentence"],
        "state": _("Refused") if is_refusal else STATES.get(last.action, _("Done")),
        "kind": last.action.partition(":")[2] or str(last.kind),
    }


def _tell_person(connection: Connection, known: Known) -> list[str]:
    """Say whom an agent acts for, to whoever sees those of others, and which of namesakes it is."""
    others = [each for each in known.connections.values() if each.name == connection.name]
    told = {
        "person": connection.user.name,
        "day": format_day(local_date(connection.created_at, known.viewer)),
    }
    if len(others) > 1 and known.sees_all:
        return [_("for %(person)s, connected on %(day)s") % told]
    if len(others) > 1:
        return [_("connected on %(day)s") % told]
    if not known.sees_all:
        return []
    is_own = connection.user_id == known.viewer.pk
    return [_("for you") if is_own else _("for %(person)s") % told]


def _tell_refusal(run: Sequence[Act], connection: Connection, known: Known) -> dict[str, Any]:
    last = run[0]
    is_own = connection.user_id == known.viewer.pk
    reason = explain_refusal(last.outcome, is_own=is_own, tool=last.action, connection=connection)
    sentence = fill(
        REFUSALS,
        agent=link_agent(connection),
        tool=format_html("<code>{}</code>", last.action),
        count=len(run),
    )
    told = f"{reason.words} {reason.advice}".strip()
    return {"sentence": sentence, "details": [told]}


def _tell_done(run: Sequence[Act], known: Known) -> dict[str, Any]:
    last = run[0]
    connection = known.connections[last.connection_id]
    records = list(dict.fromkeys(act.record_id for act in run if act.record_id))
    own = connection.user_id == known.viewer.pk
    sentence = fill(
        sentence_of(last.action, len(records)),
        agent=link_agent(connection),
        person=_("You") if own else isolate(connection.user.name),
        tool=format_html("<code>{}</code>", last.action),
        records=_link_records(records, known),
        count=len(records) or 1,
    )
    return {"sentence": sentence, "details": list(_tell_details(run, records, known))}


def _tell_details(run: Sequence[Act], records: Sequence[UUID], known: Known) -> Iterator[str]:
    """Yield what else is known of the records: worth and customers, and why one was rejected."""
    if len(records) == 1 and len(run) > 1:
        yield ngettext("%(count)d time", "%(count)d times", len(run)) % {"count": len(run)}
    seen = [known.visible[pk] for pk in records if pk in known.visible]
    if len(seen) == 1:
        document = seen[0]
        formats = Formats(page_language(), document.currency_code, document.minor_unit)
        total = formats.money(document.grand_total)
        told = {"total": total, "customer": document.customer_name}
        yield _("%(total)s for %(customer)s") % told
    elif seen:
        count = len({document.customer_id for document in seen})
        yield ngettext("for %(count)d customer", "for %(count)d customers", count) % {
            "count": count
        }
    for act in run:
        if act.approval_id and (reason := known.reasons.get(act.approval_id)):
            yield _("“%(reason)s”") % {"reason": reason}


def link_agent(connection: Connection) -> SafeString:
    """Return the agent's name, which leads to what it did."""
    href = f"{reverse('activity')}?connection={connection.pk}"
    return format_html('<a class="agent" href="{}">{}</a>', href, isolate(connection.name))


def _link_records(records: Sequence[UUID], known: Known) -> SafeString:
    shown = format_html_join(", ", "{}", ((_link(pk, known),) for pk in records[:LINKS_SHOWN]))
    more = len(records) - LINKS_SHOWN
    if more <= 0:
        return shown
    told = ngettext("%(records)s and %(count)d more", "%(records)s and %(count)d more", more)
    return fill(told, records=shown, count=more)


def _link(pk: UUID, known: Known) -> SafeString:
    name = isolate(known.names[pk])
    if pk not in known.visible:
        return name
    return format_html('<a class="record" href="{}">{}</a>', reverse("document", args=[pk]), name)
