"""Documents, to be looked up: drafts are edited on their own pages, and issued ones by nobody."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from typing_extensions import override

from invoicing.access import Permission, documents_visible_to
from invoicing.admin.records import ReadOnlyAdmin
from invoicing.administration.records import IsAllowed
from invoicing.languages import APPLICATION_LANGUAGE
from invoicing.models import Document
from invoicing.web.formats import Formats


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    fields = (
        ("page", "draft_code"),
        ("type", "status"),
        ("customer", "total"),
        ("issue_date", "due_date"),
        ("reference", "internal_notes"),
        ("created_by", "connection_name"),
        ("created_at", "updated_at"),
        ("issued_at", "lock_version"),
    )
    readonly_fields = ("page", "total", "draft_code", "created_at", "connection_name", "updated_at")
    list_display = ("name", "type", "status", "customer", "issue_date", "total", "made_by")
    list_filter = ("status", "type")
    list_select_related = ("customer", "created_by")
    search_fields = ("=number", "=draft_code", "reference", "customer__name")
    ordering = ("-id",)

    @override
    def is_allowed(self, act: str) -> IsAllowed:
        return lambda user: user.has_perm(Permission.VIEW_DOCUMENT)

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        user: Any = request.user
        return documents_visible_to(user)

    @admin.display(description="document", ordering="id")
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
