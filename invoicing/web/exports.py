"""The page on which a person takes issued documents out: as tables, originals or bookings."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple

from django import forms
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from invoicing.access import EXPORT_PERMISSIONS, Permission
from invoicing.administration.acts import actor_of
from invoicing.administration.exports import TooManyExportsError, begin_export, read_exporter
from invoicing.errors import RecordNotFoundError
from invoicing.exports.archive import write_archive
from invoicing.exports.cells import Chunks
from invoicing.exports.datev import DatevRefusedError, Problem, write_bookings
from invoicing.exports.selection import Read, Selection, read_documents
from invoicing.exports.tables import write_documents, write_lines
from invoicing.identifiers import read_uuid
from invoicing.models import Customer, Document, DocumentType, User
from invoicing.paper.formats import local_date, time_zone_of
from invoicing.rights import may_administer
from invoicing.web.document_filters import (
    FilterForm,
    describe_writer,
    read_filters,
    read_writer,
)
from invoicing.web.drafts.forms import date_field
from invoicing.web.listings import build_query
from invoicing.web.pages import SignedInRequest, page

NOTHING_FOUND = _("No document that you may see was issued on these days and fits what you chose.")
BUSY = _("Too many exports are being downloaded right now. Try again in a few minutes.")


class ExportKind(StrEnum):
    DOCUMENTS = "documents"
    LINES = "lines"
    ORIGINALS = "originals"
    DATEV = "datev"


class _File(NamedTuple):
    """How a file is called, given its first and last day, and what it is."""

    name: str
    content_type: str


FILES = {
    ExportKind.DOCUMENTS: _File("documents_{}_{}.csv", "text/csv; charset=utf-8"),
    ExportKind.LINES: _File("lines_{}_{}.csv", "text/csv; charset=utf-8"),
    ExportKind.ORIGINALS: _File("originals_{}_{}.zip", "application/zip"),
    # DATEV wants the name to begin so.
    ExportKind.DATEV: _File("EXTF_Buchungsstapel_{}_{}.csv", "text/csv; charset=windows-1252"),
}


class ExportForm(FilterForm):
    """Which documents are taken out."""

    first_day = date_field(_("Issued from"))
    last_day = date_field(_("Until"))
    type = forms.ChoiceField(
        label=pgettext_lazy("of documents", "Type"),
        required=False,
        choices=[
            ("", _("All")),
            (DocumentType.INVOICE, _("Invoices")),
            (DocumentType.CREDIT_NOTE, _("Credit notes")),
        ],
    )
    kind = forms.ChoiceField(label=_("File"), choices=[(kind, kind) for kind in ExportKind])

    def selection(self, customer: Customer | None, writer: Mapping[str, Any]) -> Selection:
        chosen = {name: value for name, value in self.cleaned_data.items() if name != "kind"}
        customer_id = customer.pk if customer else None
        return Selection(**chosen, **writer, customer_id=customer_id)


@page(*EXPORT_PERMISSIONS, methods=("GET", "POST"))
def export(request: SignedInRequest) -> HttpResponseBase:
    """Show the choice, or answer with the file that was chosen."""
    customer = _read_customer(request)
    writer = _read_writer(request)
    if request.method != "POST":
        return _show(request, ExportForm(initial=_first_choice(request)), customer)
    form = ExportForm(request.POST)
    if not form.is_valid():
        return _show(request, form, customer, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    selection = form.selection(customer, writer)
    try:
        return _download(request, ExportKind(form.cleaned_data["kind"]), selection)
    except Document.DoesNotExist:
        form.add_error(None, NOTHING_FOUND)
        return _show(request, form, customer, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except TooManyExportsError:
        form.add_error(None, BUSY)
        return _show(request, form, customer, status=HTTPStatus.SERVICE_UNAVAILABLE)
    except DatevRefusedError as refusal:
        problems = _group(request.user, refusal.problems)
        return _show(request, form, customer, problems=problems, status=HTTPStatus.CONFLICT)


def _read_customer(request: SignedInRequest) -> Customer | None:
    """Return the one customer to whom the page is limited, if it is."""
    named = request.GET.get("customer") or request.POST.get("customer")
    if not named:
        return None
    pk = read_uuid(named)
    if pk is None:  # an export of all customers would be another one
        raise RecordNotFoundError
    return Customer.objects.visible_to(request.user).find(pk)


def _read_writer(request: SignedInRequest) -> Mapping[str, Any]:
    """Return the filter of the one writer to whom the page is limited, if it is."""
    named = request.GET.get("writer") or request.POST.get("writer")
    found = read_writer(named or "")
    if named and not found:  # as of customers
        raise RecordNotFoundError
    return found


def _first_choice(request: SignedInRequest) -> dict[str, Any]:
    """Return what the link chose that led here, and the last month where it chose no days."""
    kept = read_filters(request.GET).kept
    has_days = kept.keys() & {"first_day", "last_day"}
    days = {} if has_days else _last_month(request.user)
    return {**days, "type": request.GET.get("type", ""), **kept}


def _last_month(user: User) -> dict[str, Any]:
    last_day = local_date(timezone.now(), user).replace(day=1) - timedelta(days=1)
    return {"first_day": last_day.replace(day=1), "last_day": last_day}


def _download(
    request: SignedInRequest, kind: ExportKind, selection: Selection
) -> StreamingHttpResponse:
    """Return the file; raises Document.DoesNotExist, DatevRefusedError, TooManyExportsError."""
    pks = list(selection.documents(request.user).values_list("pk", flat=True))
    if not pks:
        raise Document.DoesNotExist
    actor = actor_of(request)
    read = partial(read_documents, pks, partial(read_exporter, actor))
    chunks = begin_export(
        _write(kind, read, selection, request.user),
        actor=actor,
        kind=kind,
        begun=f"{len(pks)} documents, {selection}",
    )
    file = FILES[kind]
    name = file.name.format(selection.first_day, selection.last_day)
    return StreamingHttpResponse(
        chunks,
        content_type=file.content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _write(kind: ExportKind, read: Read, selection: Selection, user: User) -> Chunks:
    if kind == ExportKind.ORIGINALS:
        return write_archive(read)
    if kind == ExportKind.DATEV:
        now = timezone.now().astimezone(time_zone_of(user))
        return write_bookings(read, selection, now=now)
    return write_lines(read) if kind == ExportKind.LINES else write_documents(read)


def _group(user: User, problems: Sequence[Problem]) -> dict[str, list[tuple[str, str]]]:
    """Return what each problem is about, with the address where the person may mend it, by text."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for each in problems:
        groups.setdefault(each.text, []).append((each.name, _address(user, each)))
    return groups


def _address(user: User, problem: Problem) -> str:
    model = problem.model
    if model and may_administer(user, f"invoices.change_{model}"):
        page_of = f"admin:invoices_{model}"
        return (
            reverse(f"{page_of}_change", args=[problem.pk])
            if problem.pk
            else reverse(f"{page_of}_changelist")
        )
    if model == "customer" and user.has_perm(Permission.VIEW_CUSTOMER):
        return reverse("customer", args=[problem.pk])
    return ""


def _show(
    request: SignedInRequest,
    form: ExportForm,
    customer: Customer | None,
    *,
    status: int = HTTPStatus.OK,
    problems: Mapping[str, Any] | None = None,
) -> HttpResponse:
    chosen = read_filters(request.POST if request.method == "POST" else request.GET)
    may_set_datev = may_administer(request.user, "invoices.change_datevsettings")
    context = {
        "form": form,
        "customer": customer,
        "writer": chosen.kept.get("writer", ""),
        "writer_name": describe_writer(request.user, chosen.filters),
        "all_customers_href": build_query(**{**chosen.kept, "customer": ""}),
        "all_writers_href": build_query(**{**chosen.kept, "writer": ""}),
        "problems": problems,
        "may_set_datev": may_set_datev,
    }
    return render(request, "invoicing/exports.html", context, status=status)
