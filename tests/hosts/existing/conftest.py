"""A help desk that runs already, served before and after it lends its tickets to agents."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from tests.agents import Answer
from tests.hosts.new.conftest import Project, copy_project

HOST = "support.example"
PASSWORD = "a-long-password"
BEFORE = "helpdesk.settings"

PREPARE = f"""
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from oauth2_provider.models import Application
from rest_framework.authtoken.models import Token
from helpdesk.models import Ticket
call_command("migrate", verbosity=0)
olga = User.objects.create_superuser("olga", "olga@support.example", "{PASSWORD}")
nora = User.objects.create_user("nora", "nora@support.example", "{PASSWORD}")
nora.user_permissions.set(Permission.objects.filter(content_type__app_label="helpdesk"))
Token.objects.create(user=nora, key="0123456789abcdef0123456789abcdef01234567")
Ticket.objects.create(requester=olga, subject="Hers")
Ticket.objects.create(requester=nora, subject="Printer")
Application.objects.create(
    name="Reports", client_id="reports", client_secret="secret", user=nora,
    client_type="confidential", authorization_grant_type="client-credentials",
)
"""

UPDATE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("agent_access", "on")
"""


class HelpDesk(Project):
    """The help desk, below /desk, behind a proxy that ends TLS."""

    @property
    @override
    def environment(self) -> dict[str, str]:
        return super().environment | {"BASE_URL": f"https://{HOST}"}

    @override
    def request(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> Answer:
        return super().request(method, path, body, headers={"Host": HOST} | dict(headers or {}))


MakeDesk = Callable[[], HelpDesk]


@pytest.fixture(scope="package")
def make_desk(
    tmp_path_factory: pytest.TempPathFactory, environment_of: Callable[[Path], Path]
) -> MakeDesk:
    """Return a function that makes the help desk as it was before agents.

    It has olga, who may do everything, and nora, who has a ticket and a token.
    """
    python = environment_of(Path(sys.executable))
    prepared: list[bytes] = []

    def make() -> HelpDesk:
        desk = HelpDesk(copy_project(Path(__file__).parent, tmp_path_factory), python, BEFORE)
        if not prepared:
            desk.run(PREPARE)
            prepared.append(desk.database.read_bytes())
        desk.database.write_bytes(prepared[0])
        return desk

    return make


@pytest.fixture(scope="module")
def before(make_desk: MakeDesk) -> Iterator[HelpDesk]:
    with make_desk().served() as desk:
        yield desk


@pytest.fixture(scope="module")
def desk(make_desk: MakeDesk) -> Iterator[HelpDesk]:
    """Serve the help desk once it was updated, with the database that it had before."""
    desk = make_desk()
    desk.change_settings("helpdesk.settings_with_agents")
    desk.run(UPDATE)
    with desk.served():
        yield desk
