"""Browser sign-in in the owner's section: its switch, and the clients that registered."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from typing_extensions import override

from agent_access import discovery
from agent_access.admin.events import register_outcomes
from agent_access.admin.moments import format_minute, format_moment
from agent_access.admin.owners import FORM_METHODS, OwnersModelAdmin, further_of, owners_act
from agent_access.admin.states import read_usage, tell_ended
from agent_access.admin.switches import Switch, register_switch
from agent_access.connections import live_connections
from agent_access.models.connections import ConnectionKind
from agent_access.oauth.asking import SUBJECT
from agent_access.oauth.clients import connections_of, delete_client, end_connections_of
from agent_access.oauth.models import Application
from agent_access.oauth.refusals import HELP, INVALID_REQUEST, INVALID_TARGET
from agent_access.oauth.retention import forget_tokens_of
from agent_access.switches import turn_sign_in
from agent_access.waiting import subjects

register_switch(
    Switch(
        name="browser-sign-in",
        label=gettext_lazy("Browser sign-in"),
        question=gettext_lazy("Turn browser sign-in off?"),
        on_means=gettext_lazy(
            "Clients such as Claude or an editor can ask you for a connection, while agent access"
            " is on. Each one gets access only if you allow it."
        ),
        off_means=gettext_lazy(
            "No client can ask, and every connection made by browser sign-in ends."
        ),
        is_on=lambda settings: settings.browser_sign_in_on,
        ends=lambda: live_connections().filter(kind=ConnectionKind.BROWSER),
        turn=turn_sign_in,
    )
)

# With these a token request is refused (RFC 6749 section 5.2, RFC 8707 section 2).
register_outcomes([INVALID_REQUEST, INVALID_TARGET, *HELP])

LIST = "admin:agent_oauth_application_changelist"


@admin.register(Application)
class ClientAdmin(OwnersModelAdmin):
    position = 3
    purposes = {
        "agent_oauth_application_changelist": gettext_lazy(
            "Clients that asked for access by browser sign-in, and how each is known."
        ),
        "agent_oauth_application_change": gettext_lazy(
            "One client: what it says of itself, how it is known, and its connections."
        ),
        "agent_oauth_application_delete": gettext_lazy(
            "Forgets a client and ends its connections."
        ),
    }
    list_display = ("name", "known_by", "returns_to", "registered", "live")
    search_fields = ("name", "client_id", "redirect_uris")
    change_list_template = "agent_access/admin/clients.html"
    search_help_text = gettext_lazy("Search by name, identifier or return address")

    @override
    def get_urls(self) -> list[URLPattern]:
        return [
            self.page("", self.changelist_view, "changelist"),
            self.page("<int:object_id>/", self.show_record, "change"),
            self.page("<int:object_id>/delete/", self.delete, "delete", methods=FORM_METHODS),
        ]

    @override
    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {
            "mcp_address": discovery.resource(),
            "waiting": subjects[SUBJECT].find_pending(request.user, now=timezone.now()),
            **(extra_context or {}),
        }
        return super().changelist_view(request, context)

    @override
    def read_related(self, records: Sequence[Application], *, viewer: Any) -> list[int]:
        """Return how many live connections each has."""
        found = live_connections().filter(client_id__in=[each.client_id for each in records])
        counts = dict(found.values_list("client_id").annotate(Count("id")))
        return [counts.get(client.client_id, 0) for client in records]

    @admin.display(description=gettext_lazy("Known by"))
    def known_by(self, client: Application) -> str:
        return _("Its metadata document") if client.has_document else _("Its own registration")

    @admin.display(description=gettext_lazy("Returns to"))
    def returns_to(self, client: Application) -> str:
        return ", ".join(client.return_addresses)

    @admin.display(description=gettext_lazy("First seen"))
    def registered(self, client: Application) -> str:
        return format_minute(client.created)

    @admin.display(description=gettext_lazy("Live connections"))
    def live(self, client: Application) -> int:
        return int(further_of(client))

    @override
    def show_record(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        client = self.find_record(request, object_id)
        found = connections_of(client).select_related("user").order_by("-id")
        connections = list(found[: self.list_per_page])
        context = {
            "title": client.name,
            "client": client,
            "facts": self.facts_of(client),
            "connections": list(zip(connections, read_usage(connections), strict=True)),
        }
        return self.show(request, "client", context)

    @override
    def facts_of(self, record: Application) -> Sequence[tuple[str, Any]]:
        return [
            (_("Calls itself"), record.name),
            (_("Identifier"), record.client_id),
            (_("Known by"), self.known_by(record)),
            (_("Returns to"), self.returns_to(record)),
            (_("First seen"), format_moment(record.created)),
            (_("Live connections"), self.live(record)),
        ]

    def delete(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask before a client is deleted (GET), and delete it (POST).

        Its connections end first. Then its tokens go in batches, since a client may have a million,
        and others wait for the locks of an act. Whatever interrupts that, it can be done again.
        """
        client = self.find_record(request, object_id)
        live = live_connections().filter(pk__in=connections_of(client).values("pk"))
        if request.method != "POST":
            title = _("Delete %(client)s?") % {"client": client.name}
            context = {"title": title, "client": client, "count": live.count()}
            return self.show(request, "delete_client", context)
        with owners_act(request) as owner:
            ended = end_connections_of(client, by=owner)
        forget_tokens_of(client, by=owner)
        with owners_act(request) as owner:
            ended += delete_client(client, by=owner)
        said = _("The client is deleted.")
        messages.success(request, f"{said} {tell_ended(ended)}" if ended else said)
        return redirect(LIST)
