"""Receipts, read-only: which keyed writes were answered, and how."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from typing_extensions import override

from agent_access import conf
from agent_access.admin.filters import (
    ConnectionFilter,
    SearchingFilter,
    as_choices,
    day_filters,
    read_uuid,
)
from agent_access.admin.moments import format_moment
from agent_access.admin.owners import OwnersModelAdmin
from agent_access.admin.paging import BoundedPaginator, bound_search
from agent_access.models.receipts import Receipt
from agent_access.tools import registry

BY_TIME = "created_at"
SEALED = "Kept encrypted, since it holds a secret; it is shown nowhere."


class WritingToolFilter(SearchingFilter):
    by = BY_TIME
    title = "tool"
    parameter_name = "tool"
    column = "tool"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return as_choices(tool.name for tool in registry if tool.writes)


@admin.register(Receipt)
class ReceiptAdmin(OwnersModelAdmin):
    position = 4
    paginator = BoundedPaginator
    ordering = (f"-{BY_TIME}", "-id")
    list_display = ("moment", "tool", "of_connection", "key", "status", "record")
    list_filter = (ConnectionFilter, *day_filters(BY_TIME), WritingToolFilter)
    search_fields = ("key",)  # makes Django show the field; the search is our own
    search_help_text = "Search by the whole key, or the record or its ID"

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Receipt], search_term: str
    ) -> tuple[QuerySet[Receipt], bool]:
        """Find whole keys, IDs and names: a part of a key means nothing to anybody."""
        if not (text := search_term.strip()):
            return queryset, False
        ids = {read_uuid(text), *conf.host().ids_of(text)} - {None}
        condition = Q(key=text) | Q(record_id__in=ids)
        newest = bound_search(request, queryset, by=BY_TIME)
        return newest.filter(condition), False

    @override
    def read_further(self, records: Sequence[Receipt], *, viewer: Any) -> None:
        ids = {each.record_id for each in records if each.record_id}
        names = conf.host().names_of(ids, viewer)
        for receipt in records:
            pk = receipt.record_id
            receipt.__dict__["record_name"] = names.get(pk, str(pk)) if pk else ""

    @admin.display(description="Time")
    def moment(self, receipt: Receipt) -> str:
        return format_moment(receipt.created_at)

    @admin.display(description="Connection")
    def of_connection(self, receipt: Receipt) -> str:
        return receipt.connection.name

    @admin.display(description="Record")
    def record(self, receipt: Receipt) -> str:
        name: str = receipt.__dict__["record_name"]
        return name

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Receipt]:
        """Return receipts without their answers: each may be long, and only one is ever shown."""
        return super().get_queryset(request).select_related("connection").defer("answer")

    @override
    def facts_of(self, record: Receipt) -> Sequence[tuple[str, Any]]:
        return [
            ("Time", format_moment(record.created_at)),
            ("Connection", record.connection.name),
            ("Connection's ID", record.connection_id),
            ("Tool", record.tool),
            ("Idempotency key", record.key),
            ("Digest of the call", record.call_digest),
            ("Record", self.record(record)),
            ("Record's ID", record.record_id),
            ("Status", record.status),
            ("Answer", SEALED if record.is_encrypted else record.answer),
        ]
