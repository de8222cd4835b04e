"""What all admin pages here share: audited writes, no deletion, no lost update.

Instead of Django's ModelAdmin, the acts in invoicing.administration write, and audit what they do.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import flatten
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.admin.fields import CheckboxesField
from invoicing.admin.purposes import PURPOSES
from invoicing.administration.acts import actor_of
from invoicing.administration.records import IsAllowed, change_record, create_record
from invoicing.errors import ConflictError
from invoicing.models import User
from invoicing.rights import cache_is_owner, may_administer
from invoicing.search.paging import SEARCH_LENGTH
from invoicing.services.record_changes import digest_record
from invoicing.web.pages import refused_as_pages

CHANGED_MEANWHILE = _(
    "Somebody else changed this since you opened it; nothing was saved. Open it again to see the"
    " current state."
)

# Django's URLs that are left out: nothing is deleted, and the history is in the audit.
LEFT_OUT = ("_delete", "_history")
# What the links of filters ask; others fail on what they are given.
OFFERED_LOOKUPS = frozenset({"exact", "isnull"})


class RecordForm(forms.ModelForm):  # type: ignore[type-arg]  # generic for mypy only
    """A form that sends back a digest of the record it showed, and shows why an act refused.

    `seen` is that digest: a change is refused as a conflict if the record has another one by then.
    """

    # Set by get_form() on the class that Django makes for one request.
    refusal: ValidationError | None = None

    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        is_new = self.instance._state.adding
        if not is_new:
            self.initial["seen"] = self.digest()
        for name, field in self.fields.items():
            if isinstance(field, CheckboxesField):
                nothing = cast("QuerySet[Any]", field.queryset).none()
                held = nothing if is_new else getattr(self.instance, name).all()
                field.offer(held)

    def digest(self) -> str:
        return digest_record(self.instance)

    @override
    def clean(self) -> None:
        super().clean()
        if self.refusal:
            for name, problems in read_problems(self.refusal).items():
                self.add_error(name if name in self.fields else None, problems)

    def changes(self) -> dict[str, Any]:
        """Return a valid form's values for fields of the record, by name."""
        names = {field.name for field in self._meta.model._meta.get_fields()}
        return {name: value for name, value in self.cleaned_data.items() if name in names}


def read_problems(refusal: ValidationError) -> Mapping[str, list[str]]:
    if hasattr(refusal, "error_dict"):
        return refusal.message_dict
    return {"": refusal.messages}


class RecordAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # as above
    """Changes one record at a time, by an act of administration."""

    form = RecordForm
    purposes = PURPOSES
    actions = None
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    def may(self, request: HttpRequest, act: str) -> bool:
        user = cast("User", request.user)
        cache_is_owner(user)
        return self.is_allowed(act)(user)

    def is_allowed(self, act: str) -> IsAllowed:
        permission = f"{self.opts.app_label}.{act}_{self.opts.model_name}"
        return partial(may_administer, permission=permission)

    @override
    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_or_change_permission(request) or self.has_add_permission(request)

    @override
    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.may(request, "view")

    @override
    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.may(request, "add")

    @override
    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.may(request, "change")

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @override
    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow only the filters offered: by any other, digests and the like could be guessed."""
        filters: Any = self.list_filter
        name, _, kind = lookup.partition("__")
        offered = name in flatten(filters) and kind.rpartition("__")[2] in OFFERED_LOOKUPS
        return offered and super().lookup_allowed(lookup, value, request)

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return super().get_search_results(request, queryset, search_term[:SEARCH_LENGTH])

    @override
    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Answer 404 where Django goes elsewhere and says that the record was perhaps deleted."""
        # Django looks up the field that the request names even where the name is empty.
        found = super().get_object(request, object_id, from_field or None)
        if found is None and self.has_view_or_change_permission(request):
            raise Http404
        return found

    @override
    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        try:
            return super().get_changelist_instance(request)
        except OverflowError:  # from a number in a filter that SQLite cannot hold
            raise IncorrectLookupParameters from None

    @override
    def get_urls(self) -> list[URLPattern]:
        return [url for url in super().get_urls() if not str(url.name).endswith(LEFT_OUT)]

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fieldsets = [*super().get_fieldsets(request, obj)]
        if obj is not None and self.has_change_permission(request, obj):
            fieldsets.append((None, {"fields": ["seen"], "classes": ["hidden"]}))
        return fieldsets

    @override
    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        form.refusal = getattr(request, "refusal", None)
        return form

    @override
    @refused_as_pages()
    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Show the form again if its act was refused; all that it wrote is rolled back."""
        show = partial(super().changeform_view, request, object_id, form_url, extra_context)
        try:
            return show()
        except ValidationError as refusal:
            request.refusal = refusal  # type: ignore[attr-defined]  # read by get_form
        except ConflictError:
            request.refusal = ValidationError(CHANGED_MEANWHILE)  # type: ignore[attr-defined]  # as above
        return show()

    @override
    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Any:
        return form.instance

    @override
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        written = self.change(request, obj, form) if change else self.create(request, form)
        obj.pk = written.pk
        # Show what was written, not what the form put into the instance.
        obj.refresh_from_db()

    @override
    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Fill in nothing from the address: a link could tick what nobody reads to its end."""
        return {}

    def records_of(self, user: User) -> QuerySet[Any]:
        """Return the records that the user may see and change, given the permission."""
        records: QuerySet[Any] = self.model._default_manager.all()  # noqa: SLF001  Django's public name for a model's manager
        return records

    def create(self, request: HttpRequest, form: RecordForm) -> Model:
        record: Model = self.model()
        is_allowed = self.is_allowed("add")
        return create_record(actor_of(request), record, form.changes(), is_allowed=is_allowed)

    def change(self, request: HttpRequest, obj: Model, form: RecordForm) -> Model:
        return change_record(
            actor_of(request),
            self.records_of,
            obj.pk,
            form.changes(),
            seen=form.cleaned_data["seen"],
            is_allowed=self.is_allowed("change"),
        )

    @override
    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> Any:
        return self._tell(request, obj, gettext("The {kind} “{name}” was added successfully."))

    @override
    def response_change(self, request: HttpRequest, obj: Any) -> Any:
        return self._tell(request, obj, gettext("The {kind} “{name}” was changed successfully."))

    def _tell(self, request: HttpRequest, obj: Any, said: str) -> Any:
        """Say what was done as Django does, but link only what the reader may open by now."""
        name = str(obj)
        is_seen = self.get_queryset(request).filter(pk=obj.pk).exists()
        if is_seen and self.has_view_or_change_permission(request):
            page = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
            url = reverse(page, args=[obj.pk])
            name = format_html('<a href="{}">{}</a>', url, obj)
        told = format_html(said, kind=self.opts.verbose_name, name=name)
        messages.success(request, told)
        return self.response_post_save_change(request, obj)

    @override
    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Do nothing: the act has written all of it."""

    @override
    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Do nothing: the act is in the audit."""

    @override
    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Do nothing: the act is in the audit."""
