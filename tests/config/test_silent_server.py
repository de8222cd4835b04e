"""How long one waits for a PostgreSQL that says nothing, and who else waits meanwhile."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, connection, transaction

from config.postgresql import base, circuit_breaker, driver

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def ask() -> None:
    """Fail unless the server answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def test_a_server_that_says_nothing_is_given_up():
    """As one that hangs in its disk: its machine lives, so TCP says nothing, and nor does it."""
    connection.ensure_connection()
    opened = connection.connection
    opened.receive_timeout = 0.05
    with connection.cursor() as cursor, pytest.raises(OperationalError, match="timeout expired"):
        cursor.execute("SELECT pg_sleep(1)")
    assert opened.closed
    connection.close()
    ask()


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
        AS 'BEGIN PERFORM pg_sleep(0.2); RETURN NULL; END';
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
        opened.receive_timeout = 0.05

    with pytest.raises(OperationalError, match="timeout expired"):
        write()
    assert followed == []
    assert opened.closed
    ask()


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
    assert connection.connection.receive_timeout > settings.STATEMENT_TIMEOUT_SECONDS


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
        patch.setattr(base, "_breakers", defaultdict(circuit_breaker.CircuitBreaker))
        patch.setattr(circuit_breaker, "monotonic", lambda: server.now)
        patch.setattr(driver, "connect", server.connect)
        yield server


def attempt(*, answer: str) -> None:
    with pytest.raises(OperationalError, match=answer):
        connection.copy().ensure_connection()


def connect_again(server: SilentServer) -> None:
    """Ask a third time, while the second one is waiting."""
    if server.asked == 2:
        attempt(answer="no answer")


def test_one_at_a_time_waits_for_a_silent_server(silent_server):
    attempt(answer="no answer")
    silent_server.meanwhile = lambda: attempt(answer="another thread waits")
    attempt(answer="no answer")
    attempt(answer="no answer")
    assert silent_server.asked == 3


def test_whoever_refuses_at_once_is_asked_by_all(silent_server):
    silent_server.seconds = 0.1
    attempt(answer="no answer")
    silent_server.meanwhile = lambda: connect_again(silent_server)
    attempt(answer="no answer")
    assert silent_server.asked == 3


def test_all_come_in_once_a_silent_server_has_answered(silent_server, monkeypatch):
    attempt(answer="no answer")
    with monkeypatch.context() as patch:
        patch.setattr(driver, "connect", driver.TimeoutConnection.connect)  # as it is
        ask()
    connection.close()
    silent_server.meanwhile = lambda: connect_again(silent_server)
    attempt(answer="no answer")
    assert silent_server.asked == 3
