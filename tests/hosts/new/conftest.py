"""Another project, in a folder and an environment of its own, and served from there."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pytest

from tests.agents import Answer
from tests.hosts import environments

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
nora.user_permissions.set(Permission.objects.filter(content_type__app_label="notes"))
call_command("agent_access", "on")
"""


# Which migrations are missing is the exit code.
CHECK = """
from django.core.management import call_command
call_command("check", fail_level="WARNING", databases=["default"])
call_command("makemigrations", check=True, dry_run=True, verbosity=0)
"""
NO_MISTAKES = "System check identified no issues (0 silenced).\n"
CONSOLE = Path(__file__).parents[1] / "console.py"

MakeProject = Callable[..., "Project"]


@dataclass
class Project:
    """A copy of the project: its folder, its settings module, and the socket it is served on.

    `python` is the interpreter of its environment, where the distribution is installed.
    """

    folder: Path
    python: Path
    settings: str
    listening: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    _console: subprocess.Popen[str] | None = None

    @property
    def database(self) -> Path:
        return self.folder / "project.sqlite3"

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
        if self._console is None:
            self._console = self._start(CONSOLE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._console.stdin
        assert self._console.stdout
        print(json.dumps([arguments, environment]), file=self._console.stdin, flush=True)
        code, printed = json.loads(self._console.stdout.readline())
        assert code == 0, printed
        return str(printed)

    def run(self, code: str, **environment: str) -> str:
        return self.manage("shell", "--no-imports", "--command", code, **environment)

    def find_mistakes(self) -> str:
        """Return what Django's checks say, and which migrations are missing."""
        return self.run(CHECK)

    def change_settings(self, settings: str) -> None:
        self._end_console()
        self.settings = settings

    @contextmanager
    def served(self) -> Iterator[Self]:
        """Serve the project within, on its socket; it is of no use afterwards."""
        number = self.listening.fileno()
        with self._start("serve.py", str(number), pass_fds=[number]) as process:
            try:
                yield self
            finally:
                process.terminate()
                self.close()

    def close(self) -> None:
        self._end_console()
        self.listening.close()

    def _start(self, *command: str | Path, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603  our own command
            [self.python, *command], cwd=self.folder, env=self.environment, text=True, **options
        )

    def _end_console(self) -> None:
        if self._console is not None:
            self._console.communicate()
            self._console = None

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
    request: pytest.FixtureRequest, make_project: MakeProject, base: Path
) -> Iterator[Project]:
    """Serve the project, with an owner, nora, and agent access on; a module names its settings."""
    with make_project(request.module.SETTINGS, base).served() as project:
        yield project


@pytest.fixture(scope="package")
def make_project(
    tmp_path_factory: pytest.TempPathFactory, environment_of: Callable[[Path], Path]
) -> MakeProject:
    """Return a function that makes a copy of the project with these settings, and nora in it.

    Settings are migrated once; each further copy begins with what that left in the database.
    """
    prepared: dict[tuple[str, Path], bytes] = {}

    def make(settings: str, base: Path = Path(sys.executable)) -> Project:
        folder = copy_project(Path(__file__).parent, tmp_path_factory)
        project = Project(folder, environment_of(base), settings)
        if (settings, base) not in prepared:
            project.run(PREPARE, DJANGO_SUPERUSER_PASSWORD=PASSWORD)
            prepared[settings, base] = project.database.read_bytes()
        project.database.write_bytes(prepared[settings, base])
        return project

    return make


def copy_project(source: Path, temporary: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the project, without its tests."""
    folder = temporary.mktemp("project")
    ignored = shutil.ignore_patterns("test_*.py", "conftest.py", "visitors.py", "__pycache__")
    shutil.copytree(source, folder, ignore=ignored, dirs_exist_ok=True)
    (folder / "__init__.py").unlink()  # it is a package here only
    return folder
