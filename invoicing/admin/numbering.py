"""The page of numbers: how documents are numbered, above the series that have begun."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.admin.records import CHANGED_MEANWHILE, RecordAdmin, read_problems
from invoicing.administration.acts import actor_of
from invoicing.administration.numbering import (
    WantedNumbering,
    change_numbering,
    digest_numbering,
)
from invoicing.errors import ConflictError
from invoicing.models import DocumentType, NumberSeries, User
from invoicing.number_formats import MOST_DIGITS, NumberStyle
from invoicing.paper.formats import local_date
from invoicing.services.numbering import LARGEST_START, Numbering, read_numbering
from invoicing.web.pages import refused_as_pages

WORDS = {DocumentType.INVOICE: _("Invoices"), DocumentType.CREDIT_NOTE: _("Credit notes")}


class NumbersForm(forms.Form):
    """The format and the next value of every type, by fields such as invoice_prefix.

    The next value of a series that has begun is shown and cannot be chosen.
    """

    seen = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, year: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.year = year
        self.shown = read_numbering(year)
        self.initial["seen"] = digest_numbering(self.shown, year)
        for document_type, shown in self.shown.items():
            for name, field in _fields_of(shown).items():
                self.fields[f"{document_type}_{name}"] = field

    def wanted(self) -> dict[DocumentType, WantedNumbering]:
        return {each: self._wanted(each) for each in self.shown}

    def _wanted(self, document_type: DocumentType) -> WantedNumbering:
        names = (f"{document_type}_{name}" for name in NumberStyle._fields)
        style = NumberStyle(*(self.cleaned_data[name] for name in names))
        chosen = f"{document_type}_next_value"
        is_chosen = chosen in self.changed_data
        return WantedNumbering(style, self.cleaned_data[chosen] if is_chosen else None)

    @cached_property
    def parts(self) -> list[tuple[str, str, bool, list[BoundField]]]:
        """For each type its name, the next number, whether its series has begun, its fields."""
        return [
            (
                str(WORDS[each]),
                shown.style.write(self.year, shown.next_value),
                shown.is_begun,
                [self[f"{each}_{name}"] for name in _fields_of(shown)],
            )
            for each, shown in self.shown.items()
        ]

    def refuse(self, refusal: ValidationError) -> None:
        for name, problems in read_problems(refusal).items():
            self.add_error(name if name in self.fields else None, problems)


def _fields_of(shown: Numbering) -> dict[str, forms.Field]:
    return {
        "prefix": forms.CharField(
            label=_("Prefix"), max_length=12, required=False, initial=shown.style.prefix
        ),
        "has_year": forms.BooleanField(
            label=_("With the year"), required=False, initial=shown.style.has_year
        ),
        "digits": forms.IntegerField(
            label=_("Minimum digits"),
            min_value=1,
            max_value=MOST_DIGITS,
            initial=shown.style.digits,
        ),
        "next_value": forms.IntegerField(
            label=_("Next value"),
            min_value=1,
            max_value=LARGEST_START,
            initial=shown.next_value,
            disabled=shown.is_begun,
        ),
    }


@admin.register(NumberSeries)
class NumberSeriesAdmin(RecordAdmin):
    """One form for the formats and the next values; a series itself is only looked at."""

    fields = ("type", "year", "last_value")
    list_display = ("type", "year", "last_value")
    ordering = ("-year", "type")
    change_list_template = "admin/invoices/numbers.html"

    @override
    def may(self, request: HttpRequest, act: str) -> bool:
        return act == "view" and (super().may(request, "view") or super().may(request, "change"))

    @override
    @refused_as_pages()
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        may_change = super().may(request, "change")
        year = local_date(timezone.now(), cast("User", request.user)).year
        if request.method != "POST":
            form = NumbersForm(year=year)
        elif not may_change:
            raise PermissionDenied
        else:
            form = NumbersForm(request.POST, year=year)
            if form.is_valid() and self._save(request, form):
                messages.success(request, gettext("The number series were changed."))
                return redirect("admin:invoices_numberseries_changelist")
        context = {"form": form, "may_change": may_change}
        return super().changelist_view(request, context)

    def _save(self, request: HttpRequest, form: NumbersForm) -> bool:
        try:
            change_numbering(
                actor_of(request),
                form.wanted(),
                year=form.year,
                seen=form.cleaned_data["seen"],
                is_allowed=self.is_allowed("change"),
            )
        except ValidationError as refusal:
            form.refuse(refusal)
        except ConflictError:
            form.add_error(None, CHANGED_MEANWHILE)
        return form.is_valid()
