"""An operator's mistakes, made with the real commands and server: one sentence, and no trace."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import psycopg
import pytest
from django.db import connection
from psycopg.sql import SQL, Identifier

from config.environment import VAR_FOLDER
from tests.https_server import url_of_database
from tests.operations.test_image import obey_file_modes
from tests.ports import free_port
from tests.programs import run_python

pytestmark = [pytest.mark.django_db, pytest.mark.prove]

CREATE = ("createsuperuser", "--email", "a@b.example", "--name", "A", "--noinput")
# The two tests that make it run at once in two workers, on one server.
EMPTY = f"empty_of_mistakes_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
NOT_ALLOWED = (
    "The database role mistaken_service may not do this (permission denied for schema public): in"
    " DATABASE_URL, migrations need the role that owns the tables.\n"
)
NO_METRICS = (
    "Wrong setting: PROMETHEUS_MULTIPROC_DIR must name a folder that is there or can be made, and"
    " that this account may write.\n"
)
UNCOLLECTED = (
    "The static files of this release have not been collected, so no page can be shown."
    " Run manage.py collectstatic --noinput.\n"
)
SERVE = "import config.wsgi"
OTHER_SETTINGS = """
import os
from config.settings import *
STATIC_ROOT = os.environ["STATIC"]
"""


def run(*words: str, **settings: str) -> "CompletedProcess[str]":
    return run_python(*words, settings=settings, preexec_fn=obey_file_modes)


def manage(*words: str, **settings: str) -> tuple[int, str]:
    """Return the exit code and what was said on standard error."""
    done = run("manage.py", *words, BASE_URL="https://localhost", **settings)
    return done.returncode, done.stderr


def start(**settings: str) -> tuple[int, str]:
    """Load the application as a server does, and end."""
    done = run("-c", SERVE, BASE_URL="https://localhost", **settings)
    return done.returncode, done.stderr


@pytest.fixture
def empty_database(tmp_path: Path) -> Iterator[str]:
    """Return the DATABASE_URL of a database without tables."""
    if connection.vendor == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.sqlite3'}"
        return
    url = url_of_database()
    change = "DROP DATABASE IF EXISTS {} WITH (FORCE)", "CREATE DATABASE {}"
    with psycopg.connect(url, autocommit=True) as server:
        for statement in change:
            server.execute(SQL(statement).format(Identifier(EMPTY)))
        yield re.sub(r"/[^/]*$", f"/{EMPTY}", url)
        server.execute(SQL(change[0]).format(Identifier(EMPTY)))


def test_without_tables_every_command_names_migrate(empty_database):
    name = EMPTY if connection.vendor == "postgresql" else empty_database.removeprefix("sqlite:///")
    sentence = f"The database {name} is not up to date: run manage.py migrate first.\n"
    settings = {"DATABASE_URL": empty_database}
    query = "from invoicing.models import User; User.objects.count()"
    assert manage("shell", "--no-imports", "--command", query, **settings) == (1, sentence)
    assert manage(*CREATE, **settings) == (1, f"CommandError: {sentence}")
    code, told = manage("check", "--deploy", "--database", "default", **settings)
    assert code == 1
    assert (
        "(operations.E004) The database is not up to date: tables or columns of this release are"
        " missing.\n\tHINT: Run manage.py migrate with the role that owns the tables."
    ) in told
    code, told = start(**settings)
    assert code == 0
    assert told.endswith(f" config.operations.readiness [-] Not ready. {sentence}")


@pytest.mark.postgresql
def test_migrations_as_the_role_of_the_service_are_refused(empty_database):
    with psycopg.connect(empty_database, autocommit=True) as server:
        server.execute("DROP ROLE IF EXISTS mistaken_service")
        server.execute("CREATE ROLE mistaken_service LOGIN")
    url = empty_database.replace("postgres@", "mistaken_service@")
    try:
        assert manage("migrate", DATABASE_URL=url) == (
            1,
            NOT_ALLOWED,
        )
    finally:
        with psycopg.connect(empty_database, autocommit=True) as server:
            server.execute("DROP ROLE mistaken_service")


# What is wrong is in the address: no database is asked.
@pytest.mark.sqlite
def test_a_database_that_is_not_there_is_named_with_the_reason():
    settings = {"DATABASE_URL": "postgresql://u:hunter2@127.0.0.1:1/books"}
    sentence = (
        'The database books cannot be used (connection failed: connection to server at "127.0.0.1",'
        " port 1 failed: Connection refused): see DATABASE_URL.\n"
    )
    assert manage("migrate", **settings) == (1, sentence)
    assert manage("check", "--database", "default", **settings) == (1, sentence)
    assert manage("agent_access", "on", **settings) == (1, f"CommandError: {sentence}")
    code, told = start(**settings)
    assert (code, told.partition(" Not ready. ")[2]) == (0, sentence)
    code, told = manage("migrate", "--traceback", **settings)
    assert (code, told.splitlines()[0]) == (1, "Traceback (most recent call last):")


@pytest.mark.sqlite
def test_a_host_that_cannot_be_found_is_named_with_its_setting():
    found = re.compile(
        r"The database books cannot be used \(failed to resolve host 'nowhere.invalid': .*\):"
        r" see DATABASE_URL.\n"
    )
    code, told = manage("migrate", DATABASE_URL="postgresql://u:hunter2@nowhere.invalid/books")
    assert code == 1
    assert found.fullmatch(told)


@pytest.mark.sqlite  # the same on both databases
def test_a_cache_that_cannot_be_used_is_named_with_its_setting():
    reason = "Error 111 connecting to 127.0.0.1:1. Connection refused"
    sentence = f"The cache that counts requests cannot be used ({reason}): see CACHE_URL."
    settings = {"CACHE_URL": "redis://:hunter2@127.0.0.1:1/0", "DATABASE_URL": url_of_database()}
    code, told = manage("check", "--deploy", "--database", "default", **settings)
    assert code == 1
    assert f"?: (operations.E005) {sentence}\n" in told
    code, told = start(**settings)
    assert code == 0
    assert told.endswith(f" Not ready. {sentence}\n")


@pytest.mark.sqlite
@pytest.mark.parametrize("folder", ["missing", "closed"])
def test_a_folder_in_which_sqlite_cannot_write_is_refused(tmp_path, folder):
    (tmp_path / "closed").mkdir(mode=0o555)
    file = tmp_path / folder / "books.sqlite3"
    sentence = (
        f"The database file {file} cannot be opened or written: in DATABASE_URL, name a file in a"
        " folder that is there, and let this account write both.\n"
    )
    settings = {"DATABASE_URL": f"sqlite:///{file}"}
    assert manage("agent_access", "on", **settings) == (1, f"CommandError: {sentence}")
    assert start(**settings) == (1, sentence)


@pytest.mark.sqlite
@pytest.mark.parametrize("folder", ["missing/metrics", "closed"])
def test_a_folder_for_metrics_that_cannot_be_written_is_refused(tmp_path, folder):
    (tmp_path / "closed").mkdir(mode=0o555)
    assert start(PROMETHEUS_MULTIPROC_DIR=str(tmp_path / folder)) == (1, NO_METRICS)


@pytest.fixture
def collected(tmp_path: Path) -> dict[str, str]:
    """Return the settings of an installation whose static files are at a place of its own."""
    (tmp_path / "other_settings.py").write_text(OTHER_SETTINGS, encoding="utf-8")
    shutil.copytree(VAR_FOLDER / "static", tmp_path / "static")
    return {
        "PYTHONPATH": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "other_settings",
        "STATIC": str(tmp_path / "static"),
        "DATABASE_URL": url_of_database(),
    }


def lose(path: Path) -> None:
    path.unlink()


def change(path: Path) -> None:
    """Leave a file of another release."""
    path.write_text("p { color: red }")


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("files", "spoil"),
    [
        ("staticfiles.json", lose),
        ("invoicing/app.*.css", lose),
        ("invoicing/app.css", lose),
        ("invoicing/app.css", change),
    ],
)
def test_without_all_static_files_of_this_release_nothing_starts(collected, files, spoil):
    for path in Path(collected["STATIC"]).glob(files):
        spoil(path)
    assert start(**collected) == (1, UNCOLLECTED)


@pytest.mark.sqlite
def test_a_service_with_all_of_its_files_says_nothing_and_one_without_any_is_found(collected):
    assert start(**collected) == (0, "")
    shutil.rmtree(collected["STATIC"])
    assert start(**collected) == (1, UNCOLLECTED)
    code, told = manage("check", "--deploy", **collected)
    assert code == 1
    assert "?: (operations.E003) The static files of this release have not been collected" in told


@pytest.mark.sqlite
def test_static_files_that_the_account_may_not_read_are_told(collected):
    folder = Path(collected["STATIC"])
    (folder / "invoicing" / "app.css").chmod(0)
    sentence = (
        "The collected static files cannot be read, so no page can be shown. Let the account of the"
        f" service read the folder {folder} and all that is in it.\n"
    )
    assert start(**collected) == (1, sentence)


@pytest.mark.sqlite
def test_a_folder_for_static_files_that_cannot_be_written_is_named(collected):
    collected["STATIC"] = "/dev/null/static"
    assert manage("collectstatic", "--noinput", **collected) == (
        1,
        "/dev/null/static/staticfiles.json cannot be used: Not a directory.\n",
    )


@pytest.mark.sqlite
def test_a_misspelt_setting_is_told_by_every_command_and_the_service(monkeypatch):
    monkeypatch.delenv("LIMIT_PER_ADDRESS")
    message = "The variable LIMIT_PER_ADRESS is no setting of this service, and has no effect."
    hint = "Name it LIMIT_PER_ADDRESS, unless it belongs to another program."
    settings = {"LIMIT_PER_ADRESS": "30", "DATABASE_URL": url_of_database()}
    found = f"?: (config.W001) {message}\n\tHINT: {hint}\n"
    done = run("manage.py", "agent_access", "status", "--json", **settings)
    assert done.returncode == 0
    assert json.loads(done.stdout)["access_on"] is False
    assert found in done.stderr
    code, told = manage("check", "--fail-level", "WARNING", **settings)
    assert code == 1
    assert message in told
    assert f"WARNING config.wsgi [-] {message} {hint}\n" in start(**settings)[1]


def serve(log_format: str, **settings: str) -> list[str]:
    """Return the lines of a server that ends by itself, with the configuration of production."""
    port = str(free_port())
    done = run(
        *("-m", "granian", "--interface", "wsgi", "--no-ws", "--host", "127.0.0.1", "--port", port),
        *("--access-log", "--log-config", "deploy/granian.json", "config.wsgi:application"),
        LOG_FORMAT=log_format,
        **settings,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    return done.stderr.splitlines()


@pytest.mark.sqlite
def test_every_line_of_a_server_that_does_not_start_is_json_where_that_is_the_format():
    wrong = {"BASE_URL": "http://invoices.example"}
    sentence = (
        "Wrong setting: BASE_URL must be https, a host and perhaps a port, such as"
        " https://invoices.example."
    )
    lines = [json.loads(line) for line in serve("json", **wrong)]
    assert sentence in [line["message"] for line in lines]
    assert {line["logger"] for line in lines} == {"config.wsgi", "_granian"}
    lines_of_text = serve("text", **wrong)
    assert sentence in lines_of_text
    form = re.compile(r"[0-9-]{10} [0-9:,]{12} (INFO|WARNING|ERROR) _granian \[-\] .+")
    assert [line for line in lines_of_text if not form.fullmatch(line)] == [sentence]
