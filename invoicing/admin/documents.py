"""The admin of documents, only to look them up: drafts are edited on their pages, not here.

There may be a million: the list shows the newest first, and sorts by no column without an index.
"""

from typing import Any

from django.contrib import admin
from django.contrib.admin import ChoicesFieldListFilter
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from typing_extensions import override

from agent_access.admin.moments import format_minute
from agent_access.admin.paging import (
    BoundedPaginator,
    OfferedOrderList,
    bound_search,
)
from invoicing.access import Permission, documents_visible_to
from invoicing.admin.records import ReadOnlyAdmin
from invoicing.administration.records import IsAllowed
from invoicing.languages import APPLICATION_LANGUAGE
from invoicing.models import Document
from invoicing.search.paging import SEARCH_LENGTH, PageRequest
from invoicing.search.records import find_documents
from invoicing.web.formats import Formats

FOUND_AT_MOST = 200


class NewestFilter(ChoicesFieldListFilter):
    """A filter by a column without an index, applied to the newest documents or to a search's."""

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        if self.used_parameters and not request.GET.get(SEARCH_VAR, "").strip():
            queryset = bound_search(request, queryset, by="id")
        return super().queryset(request, queryset)


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    fields = (
        ("page", "draft_code"),
        ("type", "status"),
        ("customer", "total"),
        ("issue_date", "due_date"),
        ("reference", "internal_notes"),
        ("created_by", "connection_name"),
        ("created", "updated"),
        ("issued", "lock_version"),
    )
    readonly_fields = (
        *("page", "total", "draft_code", "connection_name"),
        *("created", "updated", "issued"),
    )
    list_display = ("name", "type", "status", "customer", "issue_date", "total", "made_by")
    list_filter = (("status", NewestFilter), ("type", NewestFilter))
    list_select_related = ("customer", "created_by")
    search_fields = ("number",)  # only shows the field; get_search_results() searches
    search_help_text = "Number, draft code, reference or customer"
    sortable_by = ()
    ordering = ("-id",)
    paginator = BoundedPaginator
    change_list_template = "admin/invoices/documents.html"

    @override
    def is_allowed(self, act: str) -> IsAllowed:
        return lambda user: user.has_perm(Permission.VIEW_DOCUMENT)

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        user: Any = request.user
        return documents_visible_to(user)

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Document], search_term: str
    ) -> tuple[QuerySet[Document], bool]:
        if not search_term.strip():
            return queryset, False
        user: Any = request.user
        page = PageRequest(
            search=search_term[:SEARCH_LENGTH], limit=FOUND_AT_MOST, newest_first=True
        )
        found, rest = find_documents(user, page)
        request.may_be_more = rest is not None  # type: ignore[attr-defined]  # read by the template
        return queryset.filter(pk__in=[each.pk for each in found]), False

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return OfferedOrderList

    @admin.display(description="document")
    def name(self, document: Document) -> str:
        return str(document)

    @admin.display(description="total")
    def total(self, document: Document) -> str:
        formats = Formats(APPLICATION_LANGUAGE, document.currency_code, document.minor_unit)
        return formats.money(document.grand_total)

    @admin.display(description="made by")
    def made_by(self, document: Document) -> str:
        return document.connection_name or document.created_by.name

    @admin.display(description="page")
    def page(self, document: Document) -> str:
        return format_html('<a href="{}">{}</a>', reverse("document", args=[document.pk]), document)

    @admin.display(description="created at")
    def created(self, document: Document) -> str:
        return format_minute(document.created_at)

    @admin.display(description="updated at")
    def updated(self, document: Document) -> str:
        return format_minute(document.updated_at)

    @admin.display(description="issued at")
    def issued(self, document: Document) -> str:
        return format_minute(document.issued_at)
