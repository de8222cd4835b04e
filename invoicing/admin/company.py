"""The company: its facts as they stand on invoices, and whose it is."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from typing_extensions import override

from invoicing.admin.books import ADDRESS, AddressedForm
from invoicing.admin.ownership import transfer
from invoicing.admin.records import RecordAdmin, RecordForm
from invoicing.administration.acts import actor_of
from invoicing.administration.records import found_company, may_found_company
from invoicing.administrators import is_owner
from invoicing.models import Company


@admin.register(Company)
class CompanyAdmin(RecordAdmin):
    form = AddressedForm
    change_form_template = "admin/invoices/company.html"
    readonly_fields = ("owner",)
    fieldsets = (
        (
            None,
            {
                "fields": ("name", *ADDRESS, "owner"),
                "description": (
                    "These facts stand on every invoice that is issued from now on. A change makes"
                    " approvals that wait for a decision stale."
                ),
            },
        ),
        ("Bank", {"fields": ("iban", "bic")}),
    )

    @override
    def has_add_permission(self, request: HttpRequest) -> bool:
        user: Any = request.user
        return may_found_company(user)

    @override
    def create(self, request: HttpRequest, form: RecordForm) -> Model:
        return found_company(actor_of(request), form.changes())

    @override
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """There is one: lead to it."""
        company = Company.objects.first()
        if company and self.has_view_or_change_permission(request):
            return redirect("admin:invoices_company_change", company.pk)
        return super().changelist_view(request, extra_context)

    @override
    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> Any:
        user: Any = request.user
        context["may_transfer"] = is_owner(user)
        return super().render_change_form(request, context, *args, **kwargs)

    @override
    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view(self.transfer)
        return [path("transfer", guarded, name="transfer-ownership"), *super().get_urls()]

    def transfer(self, request: HttpRequest) -> HttpResponse:
        return transfer(request, {**self.admin_site.each_context(request), "opts": self.opts})
