"""The admin of number series."""

from django.contrib import admin
from django.http import HttpRequest
from typing_extensions import override

from invoicing.admin.records import RecordAdmin
from invoicing.models import NumberSeries


@admin.register(NumberSeries)
class NumberSeriesAdmin(RecordAdmin):
    """Only to be looked at: issuing alone changes a series."""

    fields = ("type", "year", "last_value")
    list_display = ("type", "year", "last_value")
    ordering = ("-year", "type")

    @override
    def may(self, request: HttpRequest, act: str) -> bool:
        return act == "view" and super().may(request, act)
