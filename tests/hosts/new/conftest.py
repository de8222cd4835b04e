"""Another project, in a folder and an environment of its own, and served from there."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.agents import Answer
from tests.hosts import environments
from tests.wheel import build_wheel, make_environment

BASE_URL = "https://localhost"
PASSWORD = "a-long-password-for-tests"

# In one process, since each process takes seconds to start.
PREPARE = """
import os
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management import call_command
call_command("migrate", verbosity=0)
owner = {"username": "olga", "email": "olga@notes.example"}
call_command("createsuperuser", **owner, interactive=False, verbosity=0)
password = os.environ["DJANGO_SUPERUSER_PASSWORD"]
nora = get_user_model().objects.create_user("nora", password=password)
nora.user_permissions.set(Permission.objects.filter(content_type__app_label__in=["notes", "desk"]))
call_command("agent_access", "on")
"""


@dataclass(frozen=True)
class Project:
    """A copy of the project: its folder, its settings module, and the socket it is served on.

    `python` is the interpreter of its environment, where the distribution is installed.
    """

    folder: Path
    python: Path
    settings: str
    listening: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def database(self) -> Path:
        return self.folder / "notes.sqlite3"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of its commands, with nothing of this project but the interpreter."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(self.folder),
            "PYTHONWARNINGS": "error",
            "DJANGO_SETTINGS_MODULE": self.settings,
            "SECRET_KEY": "a-key-of-another-project-which-guards-nothing",
            "BASE_URL": BASE_URL,
            "DATABASE_URL": f"sqlite:///{self.database}",
        }

    def manage(self, *arguments: str, **environment: str) -> str:
        """Run a command of the project and return what it printed."""
        done = subprocess.run(  # noqa: S603  our own command
            [self.python, "manage.py", *arguments],
            cwd=self.folder,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def connect(self, *scopes: str, user: str = "nora") -> tuple[str, dict[str, str]]:
        """Return the ID of a new connection, and the header that carries its credential."""
        options = ["--user", user, "--scopes", ",".join(scopes), "--days", "7", "--json"]
        made = json.loads(self.manage("connect_agent", *options))
        return made["connection_id"], {"Authorization": f"Bearer {made['credential']}"}

    def request(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request as a proxy in front of the project would pass it on."""
        sent = {"Host": urlsplit(BASE_URL).netloc, "X-Forwarded-Proto": "https"}
        if body is not None and not isinstance(body, bytes):
            sent["Content-Type"], body = "application/json", json.dumps(body).encode()
        caller = HTTPConnection("127.0.0.1", self.listening.getsockname()[1], timeout=60)
        try:
            caller.request(method, path, body, sent | dict(headers or {}))
            response = caller.getresponse()
            cookies = "; ".join(response.headers.get_all("Set-Cookie", []))
            fields = dict(response.getheaders()) | {"Set-Cookie": cookies}
            return Answer(response.status, fields, response.read())
        finally:
            caller.close()

    def call_mcp(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        headers: Mapping[str, str],
        path: str = "/mcp",
    ) -> Answer:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        version = {"MCP-Protocol-Version": "2025-11-25"}
        return self.request("POST", path, message, headers=version | dict(headers))


@pytest.fixture(scope="module")
def base(request: pytest.FixtureRequest) -> Path:
    """Return the interpreter that has the packages: a module may ask for other versions."""
    version = getattr(request, "param", None)
    if version is None:
        return Path(sys.executable)
    if not environments.is_installed(version):
        pytest.skip("python -m tests.hosts.environments installs it where there is Python 3.12")
    return environments.python_of(version)


@pytest.fixture(scope="module")
def project(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, base: Path
) -> Iterator[Project]:
    """Serve the project, with an owner, nora, and agent access on; a module names its settings."""
    with serve(make_project(tmp_path_factory, request.module.SETTINGS, base=base)) as project:
        yield project


def make_project(
    temporary: pytest.TempPathFactory, settings: str, *, base: Path = Path(sys.executable)
) -> Project:
    """Return a copy of the project in a folder and an environment of its own, and nora in it."""
    folder, environment = temporary.mktemp("project"), temporary.mktemp("environment")
    ignored = shutil.ignore_patterns("test_*.py", "conftest.py", "visitors.py", "__pycache__")
    shutil.copytree(Path(__file__).parent, folder, ignore=ignored, dirs_exist_ok=True)
    (folder / "__init__.py").unlink()  # it is a package here only
    python = make_environment(environment, build_wheel(environment), base=base)
    project = Project(folder, python, settings)
    prepare = ["shell", "--no-imports", "--command", PREPARE]
    project.manage(*prepare, DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    return project


@contextmanager
def serve(project: Project) -> Iterator[Project]:
    """Serve the project within, on its socket."""
    number = project.listening.fileno()
    process = subprocess.Popen(  # noqa: S603  our own command
        [project.python, "serve.py", str(number)],
        cwd=project.folder,
        env=project.environment,
        pass_fds=[number],
    )
    yield project
    process.terminate()
    process.wait()
    project.listening.close()
