"""The list of issued documents whose evidence can be read, with its search and filters."""

from datetime import date
from functools import partial
from typing import Any

from django import forms
from django.db.models import prefetch_related_objects
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.models import Document, DocumentType, NumberSeries
from invoicing.search.records import find_issued
from invoicing.web.document_rows import describe_row
from invoicing.web.evidence.guard import evidence_page
from invoicing.web.listings import list_newest
from invoicing.web.pages import SignedInRequest

BACKWARDS = _("The last day comes before the first.")
TYPES = {DocumentType.INVOICE: _("Invoices"), DocumentType.CREDIT_NOTE: _("Credit notes")}


def _day(label: Any) -> forms.DateField:
    widget = forms.DateInput(attrs={"type": "date", "max": date.max.isoformat()}, format="%Y-%m-%d")
    return forms.DateField(label=label, required=False, widget=widget, input_formats=["%Y-%m-%d"])


class FilterForm(forms.Form):
    """Which issued documents are listed; what is empty lists all."""

    issued_from = _day(_("Issue date from"))
    issued_until = _day(_("Until"))
    type = forms.ChoiceField(
        label=pgettext_lazy("of documents", "Type"),
        required=False,
        choices=[("", _("All")), *((str(k), v) for k, v in TYPES.items())],
    )
    series = forms.ModelChoiceField(
        NumberSeries.objects.order_by("-year", "-type"),
        label=_("Numbers"),
        required=False,
        empty_label=_("All"),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        series: Any = self.fields["series"]
        series.label_from_instance = _name_series

    @override
    def clean(self) -> None:
        first, last = (self.cleaned_data.get(name) for name in ("issued_from", "issued_until"))
        if first and last and last < first:
            self.add_error("issued_until", BACKWARDS)

    def lookups(self) -> dict[str, Any]:
        """Return what is asked of the columns of a document."""
        names = {
            "issued_from": "issue_date__gte",
            "issued_until": "issue_date__lte",
            "type": "type",
            "series": "series",
        }
        chosen = ((name, self.cleaned_data.get(name)) for name in names)
        return {names[name]: value for name, value in chosen if value}


def _name_series(series: NumberSeries) -> str:
    name = TYPES[DocumentType(series.type)]
    if not series.year:
        return gettext("%(type)s of all years") % {"type": name}
    return gettext("%(type)s %(year)s") % {"type": name, "year": series.year}


@evidence_page
def list_evidence(request: SignedInRequest) -> HttpResponse:
    form = FilterForm(request.GET)
    form.is_valid()
    typed = {name: request.GET.get(name, "") for name in form.fields}
    find = partial(find_issued, **form.lookups())
    listing = list_newest(request, find, **typed)
    documents: list[Document] = listing.records
    prefetch_related_objects(documents, "corrects")
    context = {
        "form": form,
        "listing": listing,
        "rows": [describe_row(document) for document in documents],
        "is_filtered": bool(listing.search or any(typed.values())),
    }
    return render(request, "invoicing/evidence_list.html", context)
