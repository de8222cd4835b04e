"""The pages on which a person adds a customer, changes one, and puts it away."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from invoicing.access import WRITE_PERMISSIONS, Permission
from invoicing.admin.customers import CustomerForm
from invoicing.admin.records import read_problems
from invoicing.administration.acts import actor_of
from invoicing.administration.customers import change_customer, create_customer
from invoicing.errors import ConflictError
from invoicing.models import Customer
from invoicing.rights import may_add_customers, may_change_customers
from invoicing.services.customer_duplicates import find_likely_duplicates
from invoicing.services.record_changes import digest_record
from invoicing.web.customer_forms import (
    describe_differences,
    describe_parts,
    make_form,
    read_typed,
)
from invoicing.web.late_forms import RESUME
from invoicing.web.pages import DONE, SignedInRequest, page

# Where to go on once the customer is saved: with a draft for them.
FOR = "for"
FOR_DRAFT = "draft"
NAME_LENGTH = 200


@page(Permission.VIEW_CUSTOMER, methods=("GET", "POST"), keeps_typed=True)
def new_customer(request: SignedInRequest) -> HttpResponse:
    if not may_add_customers(request.user):
        raise PermissionDenied
    editor = Editor(request)
    if request.method == "POST":
        return editor.answer()
    named = request.GET.get("name", "")[:NAME_LENGTH].strip()
    return editor.show(make_form(request.user, initial={"name": named}))


@page(Permission.VIEW_CUSTOMER, methods=("GET", "POST"), keeps_typed=True)
def edit_customer(request: SignedInRequest, pk: UUID) -> HttpResponse:
    customer = Customer.objects.visible_to(request.user).find(pk)
    if not may_change_customers(request.user):
        raise PermissionDenied
    editor, pressed = Editor(request, customer), request.POST.keys()
    is_switch = bool({"activate", "deactivate"} & pressed)
    if request.method == "POST" and not is_switch:
        return editor.answer()
    if is_switch and RESUME not in pressed:
        return _switch(editor, customer)
    return editor.show(make_form(request.user, instance=customer))


def _switch(editor: "Editor", customer: Customer) -> HttpResponse:
    """Deactivate a customer, or make it active again, unless it was changed meanwhile."""
    request = editor.request
    changes = {"is_active": "activate" in request.POST}
    seen = request.POST.get("seen", "")
    try:
        change_customer(actor_of(request), customer.pk, changes, seen=seen)
    except ConflictError:
        form = make_form(request.user, instance=customer)
        return editor.show(form, status=HTTPStatus.CONFLICT, is_changed_meanwhile=True)
    return _show_done(customer.pk)


@dataclass(frozen=True)
class Editor:
    """Answers one request to write a customer: a new one, or `customer`."""

    request: SignedInRequest
    customer: Customer | None = None

    def answer(self) -> HttpResponse:
        """Save a valid form, ask once about a likely duplicate, or show all mistakes."""
        user, data = self.request.user, self.request.POST
        if RESUME in data:
            form = make_form(user, instance=self.customer)
            # With the digest of what the person saw, not of what is saved by now.
            form.initial.update(read_typed(form, data))
            return self.show(form)
        form = make_form(user, data, instance=self.customer)
        if not form.is_valid():
            return self.show(form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        alike = self._find_alike(form)
        told = {str(each.pk) for each in alike}
        if not told <= {*data.getlist("known")}:
            return self.show(form, alike=alike, is_asked=True)
        return self._save(form, alike)

    def _find_alike(self, form: CustomerForm) -> Sequence[Customer]:
        """Return likely duplicates, as far as the form says another name or VAT number."""
        cleaned, pk = form.cleaned_data, self.customer.pk if self.customer else None
        asked = {name: cleaned[name] for name in ("name", "vat_number")}
        if not {"name", "vat_number"} & {*form.changed_data}:
            return ()
        return find_likely_duplicates(self.request.user, **asked, besides=pk)

    def _save(self, form: CustomerForm, alike: Sequence[Customer]) -> HttpResponse:
        actor, customer = actor_of(self.request), self.customer
        try:
            if customer is None:
                customer = create_customer(actor, form.changes())
            else:
                seen = self.request.POST.get("replace") or form.cleaned_data["seen"]
                change_customer(actor, customer.pk, form.changes(), seen=seen)
        except ValidationError as refusal:
            for name, problems in read_problems(refusal).items():
                form.add_error(name if name in form.fields else None, problems)
            return self.show(form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        except ConflictError:
            return self._show_conflict(form, alike)
        return self._lead_on(customer.pk)

    def _lead_on(self, pk: UUID) -> HttpResponse:
        is_for_draft = self.request.POST.get(FOR) == FOR_DRAFT
        if is_for_draft and self.request.user.has_perms(WRITE_PERMISSIONS):
            return redirect(f"{reverse('new-draft')}?{urlencode({'customer': pk})}")
        return _show_done(pk)

    def _show_conflict(self, form: CustomerForm, alike: Sequence[Customer]) -> HttpResponse:
        """Show what was saved meanwhile beside what was typed, and offer to replace it."""
        saved = Customer.objects.visible_to(self.request.user).find(form.instance.pk)
        return self.show(
            form,
            status=HTTPStatus.CONFLICT,
            saved=saved,
            alike=alike,
            replaced=digest_record(saved),
            changes=describe_differences(form, saved),
        )

    def show(
        self, form: CustomerForm, *, status: HTTPStatus = HTTPStatus.OK, **context: Any
    ) -> HttpResponse:
        data = self.request.POST if self.request.method == "POST" else self.request.GET
        shown = Customer.objects.get(pk=self.customer.pk) if self.customer else None
        context |= {
            "form": form,
            "parts": [*describe_parts(form)],
            # As it is saved: the form has written into its own.
            "customer": shown,
            "current": digest_record(shown) if shown else "",
            "is_for_draft": data.get(FOR) == FOR_DRAFT,
        }
        return render(self.request, "invoicing/customer_form.html", context, status=status)


def _show_done(pk: UUID) -> HttpResponse:
    return redirect(f"{reverse('customer', args=[pk])}?{DONE}")
