"""The probes: one word, whoever asks, and no trace of it."""

import json
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from django.core.cache.backends.dummy import DummyCache
from django.db import connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import DatabaseError, OperationalError
from django.test import override_settings
from redis import Redis
from typing_extensions import override

import config.settings
from agent_access.database import triggers
from agent_access.database.triggers import drop, install
from agent_access.models import AuditEvent
from config.environment import PROJECT_FOLDER, VAR_FOLDER
from config.operations.health import HealthApplication
from config.operations.readiness import NotReadyError, Readiness, ServiceProbe
from config.shared_cache import shared_cache_settings
from config.wsgi import application
from tests.operations.wsgi import call
from tests.ports import free_port

SQL = PROJECT_FOLDER / "invoicing" / "sql"
HEADERS = {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


def refuse_everything(environ: Any, start_response: Any) -> list[bytes]:
    start_response("403 Forbidden", [])
    return [b"the application"]


def with_readiness(is_ready: bool) -> HealthApplication:  # noqa: FBT001  the one thing it varies by
    return HealthApplication(refuse_everything, is_ready=lambda: is_ready)


@pytest.mark.parametrize(
    ("path", "is_ready", "status", "word"),
    [
        ("/healthz", True, 200, b"ok"),
        ("/healthz", False, 200, b"ok"),
        ("/readyz", True, 200, b"ok"),
        ("/readyz", False, 503, b"unavailable"),
    ],
)
def test_a_probe_gets_one_word(path, is_ready, status, word):
    answer = call(with_readiness(is_ready), "GET", path)
    assert (answer.status, answer.content) == (status, word)
    assert answer.headers == HEADERS | {"Content-Length": str(len(word))}


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_head_gets_the_same_without_the_word(path):
    answer = call(with_readiness(is_ready=True), "HEAD", path)
    assert (answer.status, answer.content) == (200, b"")
    assert answer.headers == HEADERS | {"Content-Length": "2"}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"])
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_only_asks(path, method):
    asked: list[None] = []

    def is_ready() -> bool:
        asked.append(None)
        return True

    health = HealthApplication(refuse_everything, is_ready=is_ready)
    answer = call(health, method, path)
    assert (answer.status, answer.headers["Allow"], asked) == (405, "GET, HEAD", [])


@pytest.mark.parametrize(
    "path", ["/", "/healthz/", "/healthz/x", "/Healthz", "//healthz", "/readyz%20", "/api/v1/tools"]
)
def test_every_other_path_is_the_applications(path):
    answer = call(with_readiness(is_ready=True), "GET", path)
    assert (answer.status, answer.content) == (403, b"the application")


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["10.0.0.7:8000", "invoices.example", "", "other.example"])
def test_a_probe_needs_neither_tls_nor_the_right_host_and_is_not_written_down(host, caplog):
    answers = [
        call(application, "GET", "/healthz", HTTP_HOST=host, **{"wsgi.url_scheme": "http"})
        for _ in range(100)
    ]
    assert {answer.status for answer in answers} == {200}
    assert (AuditEvent.objects.count(), caplog.records) == (0, [])


class GoneCache(DummyCache):
    @override
    def set(self, *args: object, **options: object) -> None:
        raise ConnectionError("no route to the cache.")


@pytest.fixture
def probe(db, monkeypatch) -> ServiceProbe:
    """A probe that leaves the test's own connection open."""
    monkeypatch.setattr(connection, "close", lambda: None)
    return ServiceProbe()


def test_a_service_without_its_cache_is_not_ready(probe):
    broken = {"default": {"BACKEND": f"{__name__}.GoneCache"}}
    with override_settings(CACHES=broken), pytest.raises(NotReadyError) as missing:
        probe()
    assert str(missing.value) == (
        "The cache that counts requests cannot be used (no route to the cache): see CACHE_URL."
    )


def test_a_service_without_its_database_is_not_ready(probe):
    def fail(*args: object) -> None:
        raise OperationalError("gone")

    with connection.execute_wrapper(fail), pytest.raises(NotReadyError) as missing:
        probe()
    name = connection.settings_dict["NAME"]
    assert str(missing.value) == f"The database {name} cannot be used (gone): see DATABASE_URL."


def test_a_service_whose_cache_takes_no_writes_is_not_ready(probe, valkey_server):
    with closing(Redis.from_url(valkey_server.connection_url)) as server:
        server.replicaof("127.0.0.1", free_port())
    shared = {"default": shared_cache_settings(valkey_server.connection_url)}
    with override_settings(CACHES=shared), pytest.raises(NotReadyError, match="see CACHE_URL"):
        probe()


def test_a_service_waits_for_its_migrations_and_asks_for_them_until_they_are_there(probe):
    recorded = MigrationRecorder.Migration.objects.filter(app="agent_access")
    kept = list(recorded)
    recorded.delete()
    with pytest.raises(NotReadyError, match=r"is not up to date: run manage.py migrate first"):
        probe()
    recorded.bulk_create(kept)
    probe()
    recorded.delete()
    probe()  # a later version's migrations, or theirs undone, are no fault of this process


def test_a_service_waits_for_its_triggers_after_a_migrate_that_broke_off(probe):
    drop(connection, SQL)
    with pytest.raises(
        NotReadyError, match=r"lacks triggers, since a migrate broke off: run manage.py migrate"
    ):
        probe()
    install(connection, SQL)
    probe()


@pytest.mark.postgresql
def test_a_disabled_trigger_is_a_missing_one(probe):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE invoices_line DISABLE TRIGGER invoices_line_issued_update")
    with pytest.raises(
        NotReadyError, match=r"lacks triggers, since a migrate broke off: run manage.py migrate"
    ):
        probe()


def test_triggers_of_a_newer_version_are_no_fault(probe, monkeypatch):
    read = triggers._read_definitions

    def read_changed(database: BaseDatabaseWrapper) -> dict[tuple[str, str], str]:
        return {each: f"{text} -- tomorrow" for each, text in read(database).items()}

    monkeypatch.setattr(triggers, "_read_definitions", read_changed)
    assert triggers.find_differences(connection, SQL)
    probe()


def test_a_service_that_lost_its_tables_is_not_ready_though_it_was(probe):
    probe()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE agent_access_accesssettings RENAME TO lost")
    with pytest.raises(DatabaseError), transaction.atomic():
        probe()


# Files are the same on every database.
@pytest.mark.sqlite
def test_a_service_that_lost_a_static_file_is_not_ready_though_it_was(probe, tmp_path, settings):
    settings.STATIC_ROOT = shutil.copytree(VAR_FOLDER / "static", tmp_path / "static")
    settings.STORAGES = config.settings.STORAGES
    probe()
    manifest = json.loads((tmp_path / "static" / "staticfiles.json").read_text(encoding="utf-8"))
    (tmp_path / "static" / manifest["paths"]["invoicing/app.css"]).unlink()
    with pytest.raises(NotReadyError, match=r"static files .* Run manage.py collectstatic"):
        probe()


def test_migrations_of_a_newer_version_are_no_fault(probe):
    MigrationRecorder.Migration.objects.create(app="agent_access", name="9999_of_tomorrow")
    probe()


@pytest.mark.django_db(transaction=True)
def test_the_thread_that_asks_leaves_no_connection_behind():
    seen: list[object] = []

    def ask() -> None:
        ServiceProbe()()
        seen.append(connections["default"].connection)

    assert Readiness(ask, deadline_seconds=60).read()
    assert seen == [None]


def test_a_probe_that_fails_is_no_and_its_reason_is_logged(caplog):
    def fail() -> None:
        raise RuntimeError("the reason")

    assert Readiness(fail, deadline_seconds=60).read() is False
    assert [record.getMessage() for record in caplog.records] == ["Not ready."]
    assert "RuntimeError: the reason" in caplog.text


@pytest.fixture
def clock(monkeypatch) -> Callable[[float], None]:
    """Set the clock of the readiness by hand."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def set_clock(seconds: float) -> None:
        now[0] = seconds

    return set_clock


def test_the_service_is_asked_once_a_second_however_often_somebody_probes(clock):
    asked: list[None] = []
    ready = Readiness(lambda: asked.append(None), deadline_seconds=60)
    counts = []
    for seconds in (0, 0, 0.5, 0.99, 1, 1.5, 2):
        clock(seconds)
        assert ready.read() is True
        counts.append(len(asked))
    assert counts == [1, 1, 1, 1, 2, 2, 3]


def test_an_answer_that_does_not_come_in_time_is_no():
    begun, over = threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        over.wait(60)

    ready = Readiness(hang, deadline_seconds=0.05)
    assert ready.read() is False
    assert begun.is_set()
    over.set()


def test_while_a_late_probe_goes_on_no_other_begins(clock):
    begun: list[threading.Thread] = []
    over = threading.Event()

    def hang() -> None:
        begun.append(threading.current_thread())
        over.wait(60)

    ready = Readiness(hang, deadline_seconds=0.05)
    for seconds in range(3):
        clock(seconds)
        assert ready.read() is False
    assert len(begun) == 1
    over.set()
    begun[0].join(60)
    clock(3)
    assert ready.read() is True
    assert len(begun) == 2


def test_whoever_probes_while_another_asks_gets_the_last_answer_at_once(clock):
    asking, over = threading.Event(), threading.Event()

    def hang() -> None:
        asking.set()
        over.wait(60)

    ready = Readiness(hang, deadline_seconds=60)
    answers: list[bool] = []
    first = threading.Thread(target=lambda: answers.append(ready.read()))
    first.start()
    assert asking.wait(60)
    assert ready.read() is False  # nothing was known yet
    over.set()
    first.join(60)
    assert answers == [True]
    assert ready.read() is True
