"""Makes the tables, a ticket, a connection and a token of the project that is measured."""

from collections.abc import Iterator
from datetime import timedelta

from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application

from agent_access.testing import AgentClient
from benchmarks.host.models import Ticket
from benchmarks.host.ways import Way

TICKET = {"title": "A ticket", "body": "It does not work", "priority": 2, "due": "2026-12-01"}


def prepare() -> Iterator[Way]:
    """Make all of it, and yield the ways to measure."""
    call_command("migrate", run_syncdb=True, verbosity=0)
    User.objects.create_superuser("olga")
    nora = User.objects.create_user("nora")
    nora.user_permissions.set(Permission.objects.filter(content_type__app_label="host"))
    client = Application.objects.create(
        client_type="public", authorization_grant_type="authorization-code"
    )
    toolkit = "a" * 40
    AccessToken.objects.create(
        user=nora,
        application=client,
        token=toolkit,
        scope="tickets:read tickets:write",
        expires=timezone.now() + timedelta(days=1),
    )
    agent = AgentClient(nora).credential
    pk = Ticket.objects.create(owner=nora, title="A ticket").pk
    yield Way("read", "agent at the view", "GET", f"/agents/{pk}/", agent)
    yield Way("read", "toolkit at the view", "GET", f"/toolkit/{pk}/", toolkit)
    yield Way("read", "tools_from", "GET", f"/api/v1/tickets/{pk}", agent)
    yield Way("read", "tool by hand", "GET", f"/api/v1/hand/{pk}", agent)
    yield Way("create", "agent at the view", "POST", "/agents/", agent, TICKET)
    yield Way("create", "toolkit at the view", "POST", "/toolkit/", toolkit, TICKET)
    yield Way("create", "tools_from", "POST", "/api/v1/tickets", agent, TICKET)
    yield Way("create", "tool by hand", "POST", "/api/v1/hand", agent, TICKET)
