"""How a connection to PostgreSQL begins and ends, and how long one waits for the server."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from select import select
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, close_old_connections, connection, transaction
from django.db.backends.postgresql.base import DatabaseWrapper

from config.postgresql import base, door, driver

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


def test_a_server_that_says_nothing_is_given_up():
    """As one that hangs in its disk: its machine lives, so TCP says nothing, and nor does it."""
    connection.ensure_connection()
    opened = connection.connection
    opened.patience = 0.05
    with connection.cursor() as cursor, pytest.raises(OperationalError, match="timeout expired"):
        cursor.execute("SELECT pg_sleep(1)")
    assert opened.closed
    connection.close()
    assert read_setting("lock_timeout") == "5s"


@pytest.fixture
def slow_commits() -> Iterator[None]:
    """Let the commit of a lesson take long, as where a standby is waited for."""
    with connection.cursor() as cursor:
        cursor.execute(SLOW_COMMITS)
    yield
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE lesson; DROP FUNCTION take_long")


SLOW_COMMITS = """
    CREATE TABLE lesson (id integer);
    CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON lesson DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION take_long();
"""


@pytest.mark.usefixtures("slow_commits")
def test_a_commit_that_was_given_up_is_not_told_as_done():
    """Nobody knows whether it was done, so what would follow it does not."""
    followed: list[str] = []
    opened = connection.connection

    @transaction.atomic
    def write() -> None:
        transaction.on_commit(lambda: followed.append("told"))
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO lesson VALUES (1)")
        opened.patience = 0.05

    with pytest.raises(OperationalError, match="timeout expired"):
        write()
    assert followed == []
    assert opened.closed
    assert read_setting("lock_timeout") == "5s"


def test_a_server_that_refuses_says_something():
    connection.ensure_connection()
    opened = connection.connection
    with connection.cursor() as cursor, pytest.raises(OperationalError, match="canceling"):
        cursor.execute("SET statement_timeout = 1; SELECT pg_sleep(1)")
    assert not opened.closed
    connection.close()


def test_a_server_may_take_the_time_that_its_own_limits_give_it():
    connection.close()
    connection.ensure_connection()
    assert connection.connection.patience > settings.STATEMENT_TIMEOUT_SECONDS


class SilentServer:
    """Lets everybody wait for some seconds in vain; meanwhile something else may be tried."""

    def __init__(self) -> None:
        self.seconds = 5.0
        self.asked = 0
        self.now = 0.0
        self.meanwhile: Callable[[], None] = lambda: None

    def connect(self, **params: Any) -> None:
        self.asked += 1
        self.now += self.seconds
        self.meanwhile()
        raise psycopg.OperationalError("no answer")


@pytest.fixture
def silent_server(monkeypatch) -> Iterator[SilentServer]:
    server = SilentServer()
    connection.close()
    with monkeypatch.context() as patch:
        patch.setattr(base, "_doors", defaultdict(door.Door))
        patch.setattr(door, "monotonic", lambda: server.now)
        patch.setattr(driver, "connect", server.connect)
        yield server


def knock(*, answer: str) -> None:
    with pytest.raises(OperationalError, match=answer):
        connection.copy().ensure_connection()


def knock_again(server: SilentServer) -> None:
    """Ask a third time, while the second one is waiting."""
    if server.asked == 2:
        knock(answer="no answer")


def test_one_at_a_time_waits_for_a_silent_server(silent_server):
    knock(answer="no answer")
    silent_server.meanwhile = lambda: knock(answer="another thread waits")
    knock(answer="no answer")
    knock(answer="no answer")
    assert silent_server.asked == 3


def test_whoever_refuses_at_once_is_asked_by_all(silent_server):
    silent_server.seconds = 0.1
    knock(answer="no answer")
    silent_server.meanwhile = lambda: knock_again(silent_server)
    knock(answer="no answer")
    assert silent_server.asked == 3


def test_all_come_in_once_a_silent_server_has_answered(silent_server, monkeypatch):
    knock(answer="no answer")
    with monkeypatch.context() as patch:
        patch.setattr(driver, "connect", driver.PatientConnection.connect)  # as it is
        assert read_setting("lock_timeout") == "5s"
    connection.close()
    silent_server.meanwhile = lambda: knock_again(silent_server)
    knock(answer="no answer")
    assert silent_server.asked == 3


def test_a_migration_may_run_for_longer_than_a_statement_of_a_request():
    connection.close()  # it may be the one by which the test run made its tables
    with connection.schema_editor():
        assert read_setting("statement_timeout") == "0"
        assert read_setting("idle_in_transaction_session_timeout") == "0"
        assert connection.connection.patience is None
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
