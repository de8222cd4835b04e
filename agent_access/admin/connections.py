"""Connections: the list, a new one with its credential, and the revocation of one or many."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from typing_extensions import override

from agent_access import admin_site, conf, connections, discovery
from agent_access.admin import states
from agent_access.admin.client_words import tell_stops
from agent_access.admin.connection_names import made_on, tell_apart
from agent_access.admin.connection_page import describe_connection, describe_grants
from agent_access.admin.filters import read_uuid
from agent_access.admin.forms import ConnectionForm, RenamingForm
from agent_access.admin.moments import format_minute
from agent_access.admin.owners import FORM_METHODS, OwnersModelAdmin, further_of, owners_act
from agent_access.admin.people import text_fields
from agent_access.approvers import may_administer, may_approve
from agent_access.confirming import NotConfirmedError, ask, confirm
from agent_access.keys import to_key
from agent_access.models import AccessSettings, Connection, ConnectionKind, RevokedReason

LIST = "admin:agent_access_connection_changelist"


@admin.register(Connection)
class ConnectionAdmin(OwnersModelAdmin):
    position = 2
    purposes = {
        "agent_access_connection_changelist": gettext_lazy(
            "Programs that may act for a person: which ones, with what rights, until when."
        ),
        "agent_access_connection_add": gettext_lazy(
            "Gives a program a credential with which it acts for one person, for a limited time."
        ),
        "agent_access_connection_revoke": gettext_lazy(
            "Ends access at once, and says what that stops."
        ),
        "agent_access_connection_rename": gettext_lazy(
            "Gives a connection another name by which people know it."
        ),
        "agent_access_connection_change": gettext_lazy(
            "One program's access: what it may do, what it did, how to renew or end it."
        ),
    }
    list_display = ("name", "way", "acts_as", "scopes", "last_use", "calls", "expires", "state")
    list_filter = (states.StateFilter, states.KindFilter)
    search_help_text = gettext_lazy("Search by name or person")
    sortable_by = ("name", "expires")
    actions = ("revoke",)
    change_list_template = "agent_access/admin/connections.html"

    @override
    def get_urls(self) -> list[URLPattern]:
        return [
            self.page("", self.changelist_view, "changelist", methods=FORM_METHODS),
            self.page("add/", self.add, "add", methods=FORM_METHODS),
            self.page("revoke/", self.revoke_chosen, "revoke", methods=FORM_METHODS),
            self.page("<agent_access_id:object_id>/", self.show_record, "change"),
            self.page(
                "<agent_access_id:object_id>/rename/", self.rename, "rename", methods=FORM_METHODS
            ),
        ]

    @override
    def get_search_fields(self, request: HttpRequest) -> list[str]:
        return ["name", *(f"user__{field}" for field in text_fields())]

    @override
    def read_related(self, records: Sequence[Connection], *, viewer: Any) -> list[states.Usage]:
        return states.read_usage(records)

    @override
    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask for a selection in words of this page, where Django's own speak of items."""
        if request.method == "POST" and ACTION_CHECKBOX_NAME not in request.POST:
            messages.warning(request, _("Nothing was revoked: select a connection first."))
            return redirect(request.get_full_path())
        return super().changelist_view(request, extra_context)

    @admin.display(description=gettext_lazy("Kind"))
    def way(self, connection: Connection) -> str:
        return connection.get_kind_display()

    @admin.display(description=gettext_lazy("Acts as"))
    def acts_as(self, connection: Connection) -> SafeString:
        since = _("since %(day)s") % {"day": made_on(connection)}
        return format_html('<span>{} <span class="quiet">{}</span></span>', connection.user, since)

    @admin.display(description=gettext_lazy("Scopes"))
    def scopes(self, connection: Connection) -> SafeString:
        return format_html_join(" ", '<span class="tag">{}</span>', zip(connection.grants))

    @admin.display(description=gettext_lazy("Last use"))
    def last_use(self, connection: Connection) -> str:
        return format_minute(_usage(connection).last_used_at, never=_("Never"))

    @admin.display(description=gettext_lazy("Calls in the last day"))
    def calls(self, connection: Connection) -> int:
        return _usage(connection).calls_in_a_day

    @admin.display(description=gettext_lazy("Expires"), ordering="expires_at")
    def expires(self, connection: Connection) -> str:
        return format_minute(connection.expires_at)

    @admin.display(description=gettext_lazy("State"))
    def state(self, connection: Connection) -> SafeString:
        usage = _usage(connection)
        good = " good" if usage.state == states.State.LIVE else ""
        tag = format_html('<span class="tag{}">{}</span>', good, usage.state.label)
        return format_html('<span>{} <span class="quiet">{}</span></span>', tag, usage.words)

    @override
    def show_record(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        connection = self.find_record(request, object_id)
        page = describe_connection(connection, _usage(connection), viewer=request.user)
        page |= {"title": tell_apart(connection), "made_on": made_on(connection)}
        return self.show(request, "connection", page)

    def rename(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Ask for another name (GET), and give it (POST)."""
        connection = self.find_record(request, object_id)
        if request.method != "POST":
            form = RenamingForm(initial={"name": connection.name}, label_suffix="")
            return self._show_renaming(request, connection, form)
        form = RenamingForm(request.POST, label_suffix="")
        if form.is_valid():
            try:
                with owners_act(request, may_act=_may_end) as owner:
                    name = form.cleaned_data["name"]
                    connections.rename_connection(connection.pk, name=name, by=owner)
            except connections.ConnectionNotAllowedError as error:
                form.add_error("name", error.told())
            else:
                messages.success(request, _("It has its new name."))
                return redirect("admin:agent_access_connection_change", connection.pk)
        return self._show_renaming(request, connection, form, status=422)

    def _show_renaming(
        self, request: HttpRequest, connection: Connection, form: RenamingForm, *, status: int = 200
    ) -> HttpResponse:
        title = _("Rename %(connection)s") % {"connection": tell_apart(connection)}
        context = {"title": title, "connection": connection, "form": form}
        return self.show(request, "rename", context, status=status)

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Connection]:
        """Return all connections, or to somebody who may only approve, those that they approved."""
        connections = super().get_queryset(request).select_related("user")
        if admin_site.may_administer(request):
            return connections
        return connections.filter(owner_id=to_key(request.user.pk))

    @override
    def may_enter(self, request: HttpRequest) -> bool:
        return admin_site.may_administer(request) or admin_site.may_approve(request)

    def add(self, request: HttpRequest) -> HttpResponse:
        if not admin_site.may_approve(request):
            raise PermissionDenied
        if request.method != "POST":
            renews = self._find_renewed(request)
            form = ConnectionForm(approver=request.user, renews=renews)
            return self._show_form(request, form, renews=renews)
        form = ConnectionForm(request.POST, approver=request.user)
        if not form.is_valid():
            return self._show_form(request, form, status=422)
        try:
            confirm(request)
            return self._create(request, form)
        except NotConfirmedError as refusal:
            return refusal.mark(self._show_form(request, form))
        except connections.ConnectionExistsError:
            context = {
                "title": _("This form was already sent"),
                "made_id": form.cleaned_data["once"],
            }
            return self.show(request, "already_made", context, status=409)
        except connections.ConnectionNotAllowedError as error:
            form.add_error(None, error.told())
            return self._show_form(request, form, status=422)

    def _find_renewed(self, request: HttpRequest) -> Connection | None:
        """Return the connection whose terms the form begins with, if the address names one."""
        named = read_uuid(request.GET.get("renews", ""))
        pasted = self.get_queryset(request).filter(kind=ConnectionKind.PASTED)
        return pasted.filter(pk=named).first() if named else None

    def _create(self, request: HttpRequest, form: ConnectionForm) -> HttpResponse:
        """Show the credential in this very response: it must not be kept for another page."""
        with owners_act(request, may_act=may_approve) as owner:
            asked = connections.ConnectionRequest(
                name=form.cleaned_data["name"], **form.read_terms()
            )
            connection, credential = connections.create_connection(asked, origin=owner.origin)
        context = {
            "title": _("The connection was created"),
            "connection": connection,
            "grants": describe_grants(connection),
            "credential": credential,
            "replaced": self._find_renewed(request),
            "expires": format_minute(connection.expires_at),
            "first_steps": conf.policy().first_steps(
                credential=credential, grants=connection.grants
            ),
            **discovery.tell_addresses(),
        }
        return self.show(request, "connection_made", context)

    def _show_form(
        self,
        request: HttpRequest,
        form: ConnectionForm,
        *,
        status: int = 200,
        renews: Connection | None = None,
    ) -> HttpResponse:
        context = {
            "title": _("New connection"),
            "form": form,
            "renews": renews,
            "access_on": AccessSettings.read().access_on,
            "confirmation": ask(request),
        }
        return self.show(request, "new_connection", context, status=status)

    @admin.action(description=gettext_lazy("Revoke"))
    def revoke(self, request: HttpRequest, chosen: QuerySet[Connection]) -> HttpResponse:
        return self._ask_to_revoke(request, chosen)

    @override
    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *args: Any, **kwargs: Any
    ) -> HttpResponse | None:
        """Find nothing for a choice that is not an ID, where Django would raise."""
        try:
            return super().response_action(request, queryset, *args, **kwargs)
        except ValidationError:
            return self._ask_to_revoke(request, queryset.none())

    def revoke_chosen(self, request: HttpRequest) -> HttpResponse:
        """Ask before the connections named by `id` are revoked (GET), and revoke them (POST)."""
        named = request.GET if request.method != "POST" else request.POST
        ids = [known for each in named.getlist("id") if (known := read_uuid(each))]
        chosen = self.get_queryset(request).filter(pk__in=ids)
        if request.method != "POST":
            return self._ask_to_revoke(request, chosen)
        with owners_act(request, may_act=_may_end) as owner:
            ended = connections.revoke_connections(
                chosen, reason=RevokedReason.OWNER_REVOKED, by=owner
            )
        messages.success(request, states.tell_ended(ended))
        return redirect(LIST)

    def _ask_to_revoke(self, request: HttpRequest, chosen: QuerySet[Connection]) -> HttpResponse:
        live = list(chosen.filter(pk__in=connections.live_connections()).order_by("-id"))
        if not live:
            messages.warning(request, _("None of the selected connections is live any more."))
            return redirect(LIST)
        title = ngettext("Revoke %(count)d connection?", "Revoke %(count)d connections?", len(live))
        context = {"title": title % {"count": len(live)}, "chosen": live, "stops": tell_stops(live)}
        return self.show(request, "revoke", context)


def _may_end(user: Any) -> bool:
    return may_administer(user) or may_approve(user)


def _usage(connection: Connection) -> states.Usage:
    usage: states.Usage = further_of(connection)
    return usage
