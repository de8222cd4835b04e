"""Receipts, read-only: which keyed writes were answered, and how."""

from collections.abc import Sequence
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
from agent_access.admin.moments import format_moment
from agent_access.admin.owners import EvidenceAdmin, further_of
from agent_access.keys import Key, from_key, read_number, to_key
from agent_access.models.receipts import Receipt
from agent_access.tools import registry

BY_TIME = "created_at"
SEALED = gettext_lazy("Kept encrypted, since it holds a secret; it is shown nowhere.")


class WritingToolFilter(filters.ChoiceFilter):
    by_time = BY_TIME
    title = gettext_lazy("tool")
    parameter_name = "tool"
    column = "tool"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return filters.as_choices(tool.name for tool in registry if tool.writes)


def _record_of(receipt: Receipt) -> Key | None:
    """Return the ID of the record, as its tool has it."""
    tool = registry.find(receipt.tool)
    pk: Key | None = from_key(receipt.record_id, tool.id_type if tool else UUID)
    return pk


def _read_number(text: str) -> int | None:
    try:
        return read_number(text)
    except ValueError:
        return None


@admin.register(Receipt)
class ReceiptAdmin(EvidenceAdmin):
    by_time = BY_TIME
    purposes = {
        "agent_access_receipt_changelist": gettext_lazy(
            "The answers to writes that have a key, so that repeating one does nothing twice."
        ),
        "agent_access_receipt_change": gettext_lazy(
            "One write that has a key, and what it was answered."
        ),
    }
    ordering = (f"-{BY_TIME}", "-id")
    position = 4
    list_display = ("moment", "tool", "of_connection", "key", "status", "record")
    list_filter = (filters.ConnectionFilter, *filters.day_filters(BY_TIME), WritingToolFilter)
    search_help_text = gettext_lazy("Search by the whole key, or the record or its ID")

    @override
    def matching(self, searched: str) -> Q:
        """Find whole keys, IDs and names: a part of a key means nothing to anybody."""
        if not (text := searched.strip()):
            return Q()
        ids = {filters.read_uuid(text), *conf.policy().find_ids_by_label(text), _read_number(text)}
        return Q(key=text) | Q(record_id__in={to_key(each) for each in ids} - {None})

    @override
    def read_related(self, records: Sequence[Receipt], *, viewer: Any) -> list[str]:
        """Return what the record of each is called, without a name its ID."""
        ids = [_record_of(each) for each in records]
        names = conf.policy().record_labels(set(filter(None, ids)), viewer)
        return [names.get(pk, str(pk)) if pk else "" for pk in ids]

    @admin.display(description=gettext_lazy("Time"))
    def moment(self, receipt: Receipt) -> str:
        return format_moment(receipt.created_at)

    @admin.display(description=gettext_lazy("Connection"))
    def of_connection(self, receipt: Receipt) -> str:
        return receipt.connection.name

    @admin.display(description=gettext_lazy("Record"))
    def record(self, receipt: Receipt) -> str:
        return str(further_of(receipt))

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Receipt]:
        """Return receipts without their answers: each may be long, and only one is ever shown."""
        return super().get_queryset(request).select_related("connection").defer("answer")

    @override
    def facts_of(self, record: Receipt) -> Sequence[tuple[str, Any]]:
        return [
            (_("Time"), format_moment(record.created_at)),
            (_("Connection"), record.connection.name),
            (_("Connection's ID"), record.connection_id),
            (_("Tool"), record.tool),
            (_("Idempotency key"), record.key),
            (_("Digest of the call"), record.call_digest),
            (_("Record"), self.record(record)),
            (_("Record's ID"), _record_of(record)),
            (_("Status"), record.status),
            (_("Answer"), SEALED if record.is_encrypted else record.answer),
        ]
