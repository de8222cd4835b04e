"""Filters that share one form with the search, so that they need no script."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any, ClassVar
from uuid import UUID

from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.timezone import get_current_timezone, get_current_timezone_name
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.admin.connection_names import tell_apart
from agent_access.admin.paging import bound_search
from agent_access.keys import to_key
from agent_access.models.connections import Connection

CHOICES_SHOWN = 200


class ChoiceFilter(SimpleListFilter):
    """A choice among the values of a column; anything else finds nothing.

    Where the column has no index, `by_time` names the one that bounds the search: such a filter
    comes after those that have one.
    """

    input_type = ""
    column: ClassVar[str]
    by_time: ClassVar[str] = ""

    @override
    def has_output(self) -> bool:
        return True

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value()
        if not chosen:
            return queryset
        if self.by_time:
            queryset = bound_search(request, queryset, by=self.by_time)
        known = {str(value) for value, _ in self.lookup_choices}
        return queryset.filter(self.condition(chosen)) if chosen in known else queryset.none()

    def condition(self, chosen: str) -> Q:
        return Q(**{self.column: chosen})


class RecordFilter(ChoiceFilter):
    """A choice among the first of some records, and the one that the URL names."""

    def offered(self, request: HttpRequest) -> QuerySet[Any]:
        raise NotImplementedError

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        offered = self.offered(request)[:CHOICES_SHOWN]
        shown = {to_key(each.pk): self.name(each) for each in offered}
        if (named := read_uuid(self.value())) and named not in shown:
            shown.update(self.find_names([named]))
        return [(str(key), name) for key, name in shown.items()]

    def name(self, record: Any) -> str:
        """Return what a record that is offered is called."""
        return str(record)

    def find_names(self, keys: list[UUID]) -> Mapping[UUID, str]:
        """Return the names of records by their keys, whether or not they are offered."""
        raise NotImplementedError


class ConnectionFilter(RecordFilter):
    title = _("connection")
    parameter_name = "connection"
    column = "connection_id"

    @override
    def offered(self, request: HttpRequest) -> QuerySet[Connection]:
        return Connection.objects.select_related("user").order_by("-id")

    @override
    def name(self, record: Connection) -> str:
        return tell_apart(record)

    @override
    def find_names(self, keys: list[UUID]) -> Mapping[UUID, str]:
        found = Connection.objects.select_related("user").filter(pk__in=keys)
        return {each.pk: tell_apart(each) for each in found}


class DayFilter(ChoiceFilter):
    """A day, in the current time zone, from which or up to which something happened."""

    input_type = "date"
    lookup: ClassVar[str]
    edge: ClassVar[time]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.title = f"{self.title} ({get_current_timezone_name()})"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return ()

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not (chosen := self.value()):
            return queryset
        try:
            day = date.fromisoformat(chosen)
        except ValueError:
            return queryset.none()
        return queryset.filter(**{f"{self.column}__{self.lookup}": self._find_instant(day)})

    def _find_instant(self, day: date) -> datetime:
        try:
            return datetime.combine(day, self.edge, get_current_timezone()).astimezone(UTC)
        except OverflowError:  # the first or the last day that there is
            return datetime.combine(day, self.edge, UTC)


def day_filters(column: str) -> tuple[type[DayFilter], type[DayFilter]]:
    """Return the filters "from" and "to" over a column of instants."""
    first = {"title": _("from"), "parameter_name": "from", "lookup": "gte", "edge": time.min}
    last = {"title": _("to"), "parameter_name": "to", "lookup": "lte", "edge": time.max}
    return (
        type("FromDayFilter", (DayFilter,), {"column": column, **first}),
        type("ToDayFilter", (DayFilter,), {"column": column, **last}),
    )


def as_choices(values: Iterable[str]) -> list[tuple[str, str]]:
    return [(value, value) for value in values]


def read_uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text or "")
    except ValueError:
        return None
