"""What all pages of the section share: who may enter, and that they act under one lock."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.text import capfirst
from django.views.decorators.http import require_http_methods
from typing_extensions import override

from agent_access import admin_site
from agent_access.admin import paging
from agent_access.approvers import may_administer
from agent_access.audit import Actor, make_origin
from agent_access.connections import reload_signed_in
from agent_access.models import AccessSettings, Transport
from agent_access.translations import Text

READ_METHODS = ("GET", "HEAD")
FORM_METHODS = (*READ_METHODS, "POST")

View = Callable[..., HttpResponse]


def further_of(record: Any) -> Any:
    """Return what `read_related` has read for a record of a page."""
    return vars(record)["further"]


@contextmanager
def owners_act(
    request: HttpRequest, *, may_act: Callable[[Any], bool] = may_administer
) -> Iterator[Actor]:
    """Yield who acts, as the actor of one transaction, which locks the settings row.

    The commands lock it too, as does everything that ends sessions. Raises PermissionDenied if the
    user may no longer act, or was signed out meanwhile.
    """
    with transaction.atomic():
        AccessSettings.lock()
        user = reload_signed_in(request.user)
        if user is None or not may_act(user):
            raise PermissionDenied
        yield Actor(make_origin(Transport.WEB), user.pk)


class OwnersModelAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for mypy only
    """Read-only pages for those who may administer agents, whatever permissions others have.

    Only the routes of `get_urls` exist: none of Django's own to add, change or delete, nor its
    history, which would be a second audit.
    """

    position = 0
    # What each page is for, by the name of its route, in a line under its heading.
    purposes: ClassVar[Mapping[str, Text]] = {}
    actions: Any = None
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by: ClassVar[tuple[str, ...]] = ()
    ordering: ClassVar[tuple[str, ...]] = ("-id",)
    change_list_template = "agent_access/admin/change_list.html"

    @override
    def get_urls(self) -> list[URLPattern]:
        return [
            self.page("", self.changelist_view, "changelist"),
            self.page("<agent_access_id:object_id>/", self.show_record, "change"),
        ]

    def page(
        self, route: str, view: View, name: str, *, methods: Sequence[str] = READ_METHODS
    ) -> URLPattern:
        """Return the route of a guarded page; `name` is the last part of its name."""
        answer: View = require_http_methods(methods)(view)

        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not self.may_enter(request):
                raise PermissionDenied
            return answer(request, *args, **kwargs)

        full_name = f"{self.opts.app_label}_{self.opts.model_name}_{name}"
        # An act may be several transactions, so that others need not wait for all of it.
        page = transaction.non_atomic_requests(self.admin_site.admin_view(guarded))
        return path(route, page, name=full_name)

    def may_enter(self, request: HttpRequest) -> bool:
        return admin_site.may_administer(request)

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return paging.SortableColumnsChangeList

    @override
    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changes = super().get_changelist_instance(request)
        changes.result_list = list(changes.result_list)
        self._attach_further(request, changes.result_list)
        return changes

    def _attach_further(self, request: HttpRequest, records: Sequence[Any]) -> None:
        further = self.read_related(records, viewer=request.user)
        for record, shown in zip(records, further, strict=True):
            vars(record)["further"] = shown

    def read_related(self, records: Sequence[Any], *, viewer: Any) -> Iterable[Any]:
        """Return for each record what a viewer's page shows beyond its own fields."""
        return [None for _ in records]

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return super().get_search_results(
            request, queryset, search_term[: paging.MAX_SEARCH_LENGTH]
        )

    @override
    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may_enter(request)

    @override
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_module_permission = has_view_permission
    has_add_permission = has_delete_permission = has_change_permission

    @override
    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow only filters that the page offers, so that no digest is guessed bit by bit."""
        filters: Iterable[Any] = self.list_filter
        return lookup in {each.parameter_name for each in filters}

    def show_record(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        record = self.find_record(request, object_id)
        context = {
            "title": capfirst(str(self.opts.verbose_name)),
            "facts": self.facts_of(record),
            "connection_id": record.connection_id,
        }
        return self.show(request, "facts", context)

    def facts_of(self, record: Any) -> Sequence[tuple[str, Any]]:
        """Return the label and the value of each line of the record's page."""
        raise NotImplementedError

    def find_record(self, request: HttpRequest, object_id: Any) -> Any:
        record = get_object_or_404(self.get_queryset(request), pk=object_id)
        self._attach_further(request, [record])
        return record

    def show(
        self, request: HttpRequest, name: str, context: Mapping[str, Any], *, status: int = 200
    ) -> TemplateResponse:
        """Render a page of the section."""
        values = {**self.admin_site.each_context(request), "opts": self.opts, **context}
        return TemplateResponse(request, f"agent_access/admin/{name}.html", values, status=status)


class EvidenceAdmin(OwnersModelAdmin):
    """Pages of a table that grows without end, and with it the indexed column `by_time`."""

    by_time: ClassVar[str]
    paginator = paging.BoundedPaginator
    search_fields = ("pk",)  # makes Django show the field; the search is our own

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if condition := self.matching(search_term):
            queryset = paging.bound_search(request, queryset, by=self.by_time).filter(condition)
        return queryset, False

    def matching(self, searched: str) -> Q:
        """Return what a search for this text finds; an empty condition finds everything."""
        raise NotImplementedError
