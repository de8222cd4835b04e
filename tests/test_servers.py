"""The servers that the tests start for themselves are what they seem."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import redis
from django.core.cache.backends.redis import RedisCache
from django.db import connection

from config.environment import PROJECT_FOLDER
from tests import postgresql

WITHOUT_POSTGRESQL = """
import sys
import pytest
import tests.postgresql
tests.postgresql.find_binaries = lambda: None
sys.exit(pytest.main([*sys.argv[1:], "--database", "postgresql"]))
"""


@pytest.mark.django_db
def test_the_suite_runs_on_the_database_that_was_asked_for(request) -> None:
    assert connection.vendor == request.config.getoption("database")


@pytest.mark.sqlite
@pytest.mark.django_db
def test_sqlite_is_tested_as_it_runs_in_production() -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        assert cursor.fetchone() == ("wal",)
    assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


@pytest.mark.postgresql
@pytest.mark.django_db
def test_postgresql_listens_on_no_network_address() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT inet_server_addr(), current_setting('server_encoding')")
        assert cursor.fetchone() == (None, "UTF8")


@pytest.mark.sqlite
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has another account run the server")
def test_the_account_of_postgresql_runs_binaries_that_umask_077_kept_to_root() -> None:
    with TemporaryDirectory(prefix="invoicing-") as name:
        Path(name).chmod(0o711)
        binaries, folder = Path(name, "wheel", "pginstall", "bin"), Path(name, "postgresql")
        binaries.mkdir(parents=True)
        (binaries / "postgres").write_text("#!/bin/sh\n")
        for path in Path(name, "wheel").rglob("*"):
            path.chmod(0o700)
        folder.mkdir(mode=0o711)
        account = postgresql._server_account()
        reached = postgresql._within_reach(binaries, folder, account)
        assert reached == folder / "wheel" / "wheel" / "pginstall" / "bin"
        subprocess.run([reached / "postgres"], check=True, **account._asdict())  # noqa: S603  made above


@pytest.mark.sqlite
def test_a_run_that_requires_postgresql_fails_without_one(monkeypatch) -> None:
    done = run_without_postgresql(monkeypatch, require="1")
    assert (done.returncode, done.stderr) == (
        pytest.ExitCode.USAGE_ERROR,
        "ERROR: REQUIRE_POSTGRES=1, but no PostgreSQL was found to test with.\n\n",
    )


@pytest.mark.sqlite
def test_a_run_on_postgresql_is_skipped_with_a_word_where_there_is_none(monkeypatch) -> None:
    done = run_without_postgresql(monkeypatch, require="0")
    assert (done.returncode, done.stdout.splitlines()) == (
        pytest.ExitCode.OK,
        ["Skipped on PostgreSQL: none was found (DATABASE_URL, PG_BIN, wheel, system)."],
    )


def run_without_postgresql(monkeypatch, *, require: str) -> subprocess.CompletedProcess[str]:
    """Run this file's tests on PostgreSQL in a Python that finds no server binaries."""
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.setenv("REQUIRE_POSTGRES", require)
    return subprocess.run(  # noqa: S603  our own command
        [sys.executable, "-c", WITHOUT_POSTGRESQL, "-p", "no:cacheprovider", __file__],
        cwd=PROJECT_FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )


def test_valkey_keeps_a_value_until_it_is_stopped(valkey_server) -> None:
    cache = RedisCache(valkey_server.connection_url, {})
    cache.set("counter", 1)
    assert cache.incr("counter") == 2
    valkey_server.stop()
    with pytest.raises(redis.ConnectionError):
        cache.get("counter")
