"""A database of each release, restored and migrated once, in which each test is rolled back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection, connections
from psycopg.sql import SQL, Identifier

from invoicing.models import User
from invoicing.sample_company.loading import BOOKKEEPER
from tests.agents import HttpAgent
from tests.releases.kept import Release, find_releases
from tests.releases.rows import Rows, read_tables

# Within the ten minutes of what was waiting when the database was kept.
LATER = timedelta(minutes=2)


@dataclass(frozen=True)
class Upgraded:
    """A release, the rows of its tables as they were restored, and what its agents still hold."""

    release: Release
    before: Rows

    @property
    def promises(self) -> dict[str, Any]:
        return self.release.promises

    @property
    def person(self) -> User:
        """For whom the agents act."""
        return User.objects.get(email=BOOKKEEPER)

    def agent(self, name: str) -> HttpAgent:
        """Return the agent "pasted", "ended" or "signed in"."""
        return HttpAgent(self.promises["credentials"][name])


Upgrade = Callable[[str], tuple[str, Upgraded]]


@pytest.fixture(scope="session")
def upgrade(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Upgrade]:
    """Return what restores and migrates a release, once; it returns the name of the database."""
    done: dict[str, tuple[str, Upgraded]] = {}

    def upgrade_once(name: str) -> tuple[str, Upgraded]:
        if name not in done:
            release = Release(name, connection.vendor)
            database = restore(release, tmp_path_factory.mktemp("release"))
            with connected_to(database):
                before = read_tables()
                call_command("migrate", verbosity=0)
            done[name] = database, Upgraded(release, before)
        return done[name]

    with django_db_blocker.unblock():
        yield upgrade_once
        if connection.vendor == "postgresql":
            for database, _ in done.values():
                run_outside(SQL("DROP DATABASE {}").format(Identifier(database)))


@pytest.fixture(scope="module", params=find_releases())
def _connected(
    request: pytest.FixtureRequest, upgrade: Upgrade, django_db_blocker: Any
) -> Iterator[Upgraded]:
    with django_db_blocker.unblock():
        database, upgraded = upgrade(request.param)
    with connected_to(database):
        yield upgraded


@pytest.fixture
def upgraded(
    _connected: Upgraded, db: None, many_calls: None, settings: Any, time_machine: Any
) -> Upgraded:
    """The release, some minutes after its database was kept, with the settings that it had."""
    settings.AGENT_ACCESS |= {"EMAIL_URL": "smtp://mail.example:25"}
    time_machine.move_to(_connected.release.made_at + LATER, tick=False)
    return _connected


def restore(release: Release, folder: Path) -> str:
    """Return the name of a database with what was kept: a file, or one beside that of the tests."""
    if connection.vendor == "sqlite":
        file = folder / "release.sqlite3"
        release.restore_into_file(file)
        return str(file)
    name = f"{connection.settings_dict['NAME']}_{release.name}"
    run_outside(SQL("CREATE DATABASE {}").format(Identifier(name)))
    release.restore_into_server(address_of(name))
    return name


def address_of(database: str) -> str:
    at = connection.settings_dict
    named = {"dbname": database, "host": at["HOST"], "port": at["PORT"], "user": at["USER"]}
    named["password"] = at["PASSWORD"]
    return psycopg.conninfo.make_conninfo(**{key: value for key, value in named.items() if value})


def run_outside(statement: Any) -> None:
    """Run a statement in no database of the tests, and outside of a transaction."""
    with psycopg.connect(address_of("postgres"), autocommit=True) as server:
        server.execute(statement)


@contextmanager
def connected_to(database: str) -> Iterator[None]:
    """Let everything use another database than that of the tests."""
    tests_own = connections["default"]
    other = connections.create_connection("default")
    other.settings_dict = {**tests_own.settings_dict, "NAME": database}
    connections["default"] = other
    ContentType.objects.clear_cache()
    try:
        yield
    finally:
        other.close()
        connections["default"] = tests_own
        ContentType.objects.clear_cache()
