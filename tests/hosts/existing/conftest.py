"""A help desk that runs already, served before and after it lends its tickets to agents."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from tests.agents import Answer
from tests.hosts.new.conftest import Project
from tests.wheel import build_wheel, make_environment

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


@pytest.fixture(scope="package")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment with the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    return make_environment(folder, build_wheel(folder))


def serve(desk: HelpDesk) -> Iterator[HelpDesk]:
    """Serve it with olga, who may do everything, and nora, who has a ticket and a token."""
    ignored = shutil.ignore_patterns("test_*.py", "conftest.py", "__pycache__")
    shutil.copytree(Path(__file__).parent, desk.folder, ignore=ignored, dirs_exist_ok=True)
    desk.manage("shell", "--no-imports", "--command", PREPARE)
    number = desk.listening.fileno()
    process = subprocess.Popen(  # noqa: S603  our own command
        [desk.python, "serve.py", str(number)],
        cwd=desk.folder,
        env=desk.environment,
        pass_fds=[number],
    )
    yield desk
    process.terminate()
    process.wait()
    desk.listening.close()


@pytest.fixture(scope="module")
def before(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HelpDesk]:
    yield from serve(HelpDesk(tmp_path_factory.mktemp("before"), environment, BEFORE))


@pytest.fixture(scope="module")
def desk(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HelpDesk]:
    after = "helpdesk.settings_with_agents"
    yield from serve(HelpDesk(tmp_path_factory.mktemp("after"), environment, after))
