"""The servers that the tests start for themselves are what they seem."""

import subprocess
import sys

import pytest
from django.db import connection

from config.environment import PROJECT_FOLDER

WITHOUT_POSTGRESQL = """
import sys
import pytest
import tests.postgresql
tests.postgresql.find_binaries = lambda: None
sys.exit(pytest.main([*sys.argv[1:], "--database", "postgresql"]))
"""


@pytest.mark.django_db
def test_the_suite_runs_on_the_database_that_was_asked_for_as_in_production(request) -> None:
    assert connection.vendor == request.config.getoption("database")
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
            cursor.execute("PRAGMA journal_mode")
            assert cursor.fetchone() == ("wal",)
        else:
            cursor.execute("SELECT inet_server_addr(), current_setting('server_encoding')")
            assert cursor.fetchone() == (None, "UTF8")


@pytest.mark.sqlite
def test_a_run_that_requires_postgresql_fails_without_one(monkeypatch) -> None:
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.setenv("REQUIRE_POSTGRES", "1")
    done = subprocess.run(  # noqa: S603  our own command
        [sys.executable, "-c", WITHOUT_POSTGRESQL, "-p", "no:cacheprovider", __file__],
        cwd=PROJECT_FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        pytest.ExitCode.USAGE_ERROR,
        "ERROR: REQUIRE_POSTGRES=1, but no PostgreSQL was found to test with.\n\n",
    )
