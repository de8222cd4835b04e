"""The audit, read-only: who did what, when, from where, and with which outcome."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from typing_extensions import override

from agent_access import conf
from agent_access.admin import filters
from agent_access.admin.event_names import EventNames, read_names
from agent_access.admin.moments import format_moment
from agent_access.admin.owners import EvidenceAdmin, further_of
from agent_access.admin.paging import MAX_SEARCH_LENGTH
from agent_access.admin.people import find_keys, names_of
from agent_access.admin.revocations import describe_detail
from agent_access.audit import OK
from agent_access.errors import ToolError
from agent_access.listing import TOOLS_LIST
from agent_access.models import ADMINISTRATION, AuditEvent, Connection
from agent_access.tools import registry
from agent_access.verification import read_archived_before

WORDS_SEARCHED = 5
BY_TIME = "occurred_at"

_further_outcomes: set[str] = set()


def register_outcomes(codes: Iterable[str]) -> None:
    """Let the owner filter the audit by these codes, beside those of tool calls."""
    _further_outcomes.update(codes)


class ChainFilter(filters.ChoiceFilter):
    by_time = BY_TIME
    title = gettext_lazy("chain")
    parameter_name = "chain"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(ADMINISTRATION, _("Administration")), ("connections", _("Connections"))]

    @override
    def condition(self, chosen: str) -> Q:
        of_administration = Q(chain=ADMINISTRATION)
        return of_administration if chosen == ADMINISTRATION else ~of_administration


class ToolFilter(filters.ChoiceFilter):
    by_time = BY_TIME
    title = gettext_lazy("tool")
    parameter_name = "tool"
    column = "action"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return filters.as_choices(tool.name for tool in (TOOLS_LIST, *registry))


class OutcomeFilter(filters.ChoiceFilter):
    by_time = BY_TIME
    title = gettext_lazy("outcome")
    parameter_name = "outcome"
    column = "outcome"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return filters.as_choices([OK, *sorted({*_codes_below(ToolError), *_further_outcomes})])


class ActorFilter(filters.RecordFilter):
    by_time = BY_TIME
    title = gettext_lazy("actor")
    parameter_name = "actor"
    column = "actor_id"

    @override
    def offered(self, request: HttpRequest) -> QuerySet[Any]:
        return conf.policy().delegates(request.user)

    @override
    def find_names(self, keys: list[UUID]) -> Mapping[UUID, str]:
        return names_of(keys)


@admin.register(AuditEvent)
class EventAdmin(EvidenceAdmin):
    by_time = BY_TIME
    purposes = {
        "agent_access_auditevent_changelist": gettext_lazy(
            "Every call and every act, in chains that can be verified. Nothing here can be changed."
        ),
        "agent_access_auditevent_change": gettext_lazy(
            "One event of the audit, exactly as it was recorded."
        ),
    }
    ordering = (f"-{BY_TIME}", "-id")
    position = 5
    list_display = (
        "moment",
        "action",
        "result",
        "of_connection",
        "actor",
        "named_target",
        "came_from",
    )
    list_filter = (
        filters.ConnectionFilter,
        *filters.day_filters(BY_TIME),
        ChainFilter,
        ActorFilter,
        ToolFilter,
        OutcomeFilter,
    )
    search_help_text = gettext_lazy("Search by action, name, address or identifier")

    def archived_before(self) -> str:
        """Return before which moment events are no longer here; empty if all are."""
        before = read_archived_before()
        return format_moment(before) if before else ""

    @override
    def matching(self, searched: str) -> Q:
        words = searched[:MAX_SEARCH_LENGTH].split()[:WORDS_SEARCHED]
        return Q(*map(_matches_word, words))

    @override
    def read_related(self, records: Sequence[AuditEvent], *, viewer: Any) -> list[EventNames]:
        return read_names(records, viewer=viewer)

    @admin.display(description=gettext_lazy("Time"))
    def moment(self, event: AuditEvent) -> str:
        return format_moment(event.occurred_at)

    @admin.display(description=gettext_lazy("Outcome"))
    def result(self, event: AuditEvent) -> str:
        detail = describe_detail(event)
        return f"{event.outcome} ({detail})" if detail else event.outcome

    @admin.display(description=gettext_lazy("From"))
    def came_from(self, event: AuditEvent) -> str:
        return f"{event.transport} {event.client_address}".strip()

    @admin.display(description=gettext_lazy("Connection"))
    def of_connection(self, event: AuditEvent) -> str:
        return _names(event).connection

    @admin.display(description=gettext_lazy("Actor"))
    def actor(self, event: AuditEvent) -> str:
        return _names(event).actor

    @admin.display(description=gettext_lazy("Target"))
    def named_target(self, event: AuditEvent) -> str:
        return _names(event).target

    @override
    def facts_of(self, record: AuditEvent) -> Sequence[tuple[str, Any]]:
        return [
            (_("Time"), format_moment(record.occurred_at)),
            (_("Action"), record.action),
            (_("Outcome"), record.outcome),
            (_("Detail"), describe_detail(record)),
            (_("Connection"), self.of_connection(record)),
            (_("Actor"), self.actor(record)),
            (_("Target"), self.named_target(record)),
            (_("Target's ID"), record.target),
            (_("Transport"), record.transport),
            (_("Client address"), record.client_address),
            (_("Request ID"), record.request_id),
            (_("Chain"), record.chain),
            (_("Sequence"), record.sequence),
            (_("Digest"), record.digest),
            (_("Digest of the content"), record.content_digest or ""),
        ]


def _matches_word(word: str) -> Q:
    called = Connection.objects.filter(name__icontains=word).values("id")
    condition = (
        Q(action__icontains=word)
        | Q(target__in=[word, *map(str, conf.policy().find_ids_by_label(word))])
        | Q(detail=word)
        | Q(request_id=word)
        | Q(client_address=word)
        | Q(connection_id__in=called)
        | Q(actor_id__in=find_keys(word))
    )
    if named := filters.read_uuid(word):
        condition |= Q(connection_id=named) | Q(actor_id=named)
    return condition


def _names(event: AuditEvent) -> EventNames:
    names: EventNames = further_of(event)
    return names


def _codes_below(error: type[ToolError]) -> Iterator[str]:
    for kind in error.__subclasses__():
        if "code" in kind.__dict__:
            yield kind.code
        yield from _codes_below(kind)
