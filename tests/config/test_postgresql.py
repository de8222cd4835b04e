"""How a connection to PostgreSQL begins and ends."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from select import select
from threading import Event, Thread
from typing import Any

import pytest
from django.db import OperationalError, close_old_connections, connection
from django.db.backends.postgresql.base import DatabaseWrapper

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def read_setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s)", [name])
        [(value,)] = cursor.fetchall()
        return str(value)


@pytest.fixture
def questions(monkeypatch) -> list[str]:
    """Count how often the server is asked."""
    asked: list[str] = []
    ask = DatabaseWrapper.is_usable

    def count(self) -> bool:
        asked.append("SELECT 1")
        return ask(self)

    monkeypatch.setattr(DatabaseWrapper, "is_usable", count)
    return asked


def end_session_from_outside() -> None:
    """Let the server end our session, as a restart does."""
    other = connection.copy()
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    other.close()


@contextmanager
def database_that_says(**settings: str) -> Iterator[None]:
    """Let the database say so to whoever connects from now on."""
    connection.ensure_connection()
    other = connection.copy()
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with closing(other), other.cursor() as cursor:
        for setting, value in settings.items():
            cursor.execute(f"ALTER DATABASE {name} SET {setting} = '{value}'")
        connection.close()
        try:
            yield
        finally:
            connection.close()
            cursor.execute(f"ALTER DATABASE {name} RESET ALL")


def test_a_session_is_as_the_settings_say_whatever_the_database_says():
    with database_that_says(
        lock_timeout="0",
        statement_timeout="0",
        idle_in_transaction_session_timeout="0",
        default_transaction_isolation="serializable",
        datestyle="German, DMY",
    ):
        assert read_setting("lock_timeout") == "5s"
        assert read_setting("statement_timeout") == "15s"
        assert read_setting("idle_in_transaction_session_timeout") == "30s"
        assert read_setting("transaction_isolation") == "read committed"
        assert read_setting("datestyle") == "ISO, DMY"


def test_no_connection_is_kept_to_a_server_that_takes_no_writes():
    """As a standby: the next request looks for the one that does, once names lead there."""
    with (
        database_that_says(default_transaction_read_only="on"),
        pytest.raises(OperationalError, match="read-only"),
    ):
        connection.ensure_connection()
    connection.ensure_connection()


def test_a_connection_begins_with_nothing_that_a_pooler_refuses():
    """PgBouncer refuses `options`, and told to ignore them would leave the time limits out."""
    connection.ensure_connection()
    assert "options" not in connection.connection.info.get_parameters()


def test_a_live_connection_costs_no_question(questions):
    connection.ensure_connection()
    assert connection.is_usable()
    assert questions == []


def test_a_connection_that_the_server_ended_is_not_usable(questions):
    end_session_from_outside()
    assert not connection.is_usable()
    assert questions == ["SELECT 1"]
    connection.close()


def test_a_word_of_the_server_is_no_end(questions):
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("LISTEN news")
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("NOTIFY news")
    other.close()
    assert select([connection.connection], [], [], 5)[0]
    assert connection.is_usable()
    assert questions == ["SELECT 1"]
    connection.close()


def test_no_connection_is_not_usable(questions):
    connection.close()
    assert not connection.is_usable()
    assert questions == []


def test_a_request_after_the_end_is_served(agent):
    assert agent.call("documents.list").status == 200
    end_session_from_outside()
    close_old_connections()  # as at the beginning of a request, but not of one of the test client
    assert agent.call("documents.list").status == 200


def test_a_thread_keeps_its_connection_from_request_to_request():
    connection.ensure_connection()
    opened = connection.connection
    close_old_connections()
    assert connection.connection is opened


def test_a_migration_may_run_for_longer_than_a_statement_of_a_request():
    connection.close()  # it may be the one by which the test run made its tables
    with connection.schema_editor():
        assert read_setting("statement_timeout") == "0"
        assert read_setting("idle_in_transaction_session_timeout") == "0"
        assert connection.connection.receive_timeout is None
        assert read_setting("lock_timeout") == "5s"
    assert read_setting("statement_timeout") == "15s"


def test_so_may_a_migration_without_a_transaction():
    with connection.schema_editor(atomic=False):
        assert read_setting("statement_timeout") == "0"
    connection.close()


def test_a_connection_ends_with_its_thread():
    held: list[Any] = []

    def ask() -> None:
        connection.ensure_connection()
        held.append(connection.connection)

    thread = Thread(target=ask)
    thread.start()
    thread.join()
    (left,) = held
    try:
        assert left.closed
    finally:
        left.close()


# Python warns of what is done here on purpose.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_forked_meanwhile_ends_no_connection_of_other_threads():
    is_open, is_forked = Event(), Event()
    answers: list[Any] = []

    def ask_twice() -> None:
        read_setting("lock_timeout")
        is_open.set()
        is_forked.wait()
        answers.append(read_setting("lock_timeout"))

    thread = Thread(target=ask_twice)
    thread.start()
    is_open.wait()
    try:
        if (child := os.fork()) == 0:
            os._exit(0)
        os.waitpid(child, 0)
    finally:
        is_forked.set()
        thread.join()
    assert answers == ["5s"]
