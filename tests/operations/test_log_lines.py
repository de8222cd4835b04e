"""A line to read and a line of JSON: the same facts, and never a secret."""

import json
import logging
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest

from agent_access.request_facts import forget_request, note
from config.environment import PROJECT_FOLDER
from config.operations.log_lines import JsonLines, StandardError, TextLines
from config.settings import LOGGING
from tests.browsers import Browser

TEXT = TextLines("{levelname} {name} [{request_id}] {message}", style="{")
AT = datetime(2026, 11, 21, 9, 30, 15, 250_000, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _no_request() -> Iterator[None]:
    forget_request()
    yield
    forget_request()


def make_record(
    message: str, *args: object, error: Exception | None = None, **extra: Any
) -> logging.LogRecord:
    exc_info = (type(error), error, None) if error else None
    logger = logging.getLogger("some.logger")
    record = logger.makeRecord(
        logger.name, logging.WARNING, "file.py", 1, message, args, exc_info, extra=extra
    )
    record.created = AT.timestamp()
    return record


def as_json(record: logging.LogRecord) -> dict[str, Any]:
    written = JsonLines().format(record)
    assert "\n" not in written
    assert written.isascii()
    line: dict[str, Any] = json.loads(written)
    return line


def test_a_line_of_json_says_when_where_and_what():
    assert as_json(make_record("It is %s.", "so")) == {
        "time": "2026-11-21T09:30:15.250+00:00",
        "level": "WARNING",
        "logger": "some.logger",
        "message": "It is so.",
        "request_id": "-",
    }


def test_a_line_of_json_names_the_connection_once_it_is_known():
    connection_id = uuid4()
    note(connection_id=connection_id)
    assert as_json(make_record("x"))["connection_id"] == str(connection_id)


def test_further_facts_stand_beside_it_and_nothing_else_of_the_record():
    line = as_json(make_record("x", facts={"status": 200, "tool": ""}, request="GET /?secret=1"))
    assert line["status"] == 200
    assert sorted(line) == ["level", "logger", "message", "request_id", "status", "time"]


def test_a_line_to_read_is_one_line():
    assert TEXT.format(make_record("It is %s.", "so")) == "WARNING some.logger [-] It is so."


def test_a_line_to_read_is_in_utc_whatever_the_machines_zone(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        written = TextLines("{asctime} {message}", style="{").format(make_record("x"))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert written.startswith("2026-11-21 09:30:15,")


def test_a_hostile_message_stays_within_its_line_to_read():
    hostile = "a\n2026-11-21 INFO forged\r\x1b[2J\u2028\udcff"
    written = TEXT.format(make_record("%s", hostile, error=RuntimeError("b\r\x1b[2J\x00")))
    assert written.splitlines() == [
        r"WARNING some.logger [-] a\n2026-11-21 INFO forged\r\x1b[2J\u2028\udcff",
        r"RuntimeError: b\r\x1b[2J\x00",
    ]


@pytest.mark.parametrize("formatter", [TEXT, JsonLines()], ids=["text", "json"])
def test_neither_form_writes_a_secret(formatter):
    secret = "ivc_" + "aB3-" * 11
    error = RuntimeError(secret, {"HTTP_AUTHORIZATION": f"Bearer {secret}"})
    record = make_record("Called with %s", secret, error=error)
    # As any other formatter would have left it on the record.
    logging.Formatter().format(record)
    written = formatter.format(record)
    assert "RuntimeError" in written
    assert "Called with [hidden]" in written
    assert secret not in written


def test_a_hostile_message_stays_within_its_line_of_json():
    assert as_json(make_record('a\n{"level": "x"}\udcff'))["message"] == 'a\n{"level": "x"}\udcff'


def test_the_service_writes_in_the_form_that_the_setting_names():
    logging_settings: dict[str, Any] = LOGGING
    assert set(logging_settings["formatters"]) == {"text", "json"}
    assert logging_settings["handlers"]["stderr"]["formatter"] == "text"
    assert logging_settings["root"]["handlers"] == ["stderr"]


@pytest.fixture
def log(monkeypatch) -> StringIO:
    """What the handler of the service writes."""
    [handler] = [each for each in logging.getLogger().handlers if each.name == "stderr"]
    written = StringIO()
    monkeypatch.setattr(handler, "stream", written)
    return written


@pytest.mark.parametrize("path", ["/documents", "/admin/", "/nothing/at/all", "/oauth/authorize"])
def test_a_request_that_is_too_long_is_one_line_and_no_error(log, sign_in_on, path):
    log.truncate(0)
    answer = Browser().get(f"{path}?x={'y' * 17_000}")
    assert answer.status_code in {400, 404}
    lines = log.getvalue().splitlines()
    assert [
        line for line in lines if " ERROR " in line or line.startswith(("Traceback", "  "))
    ] == []
    assert "y" * 33 not in log.getvalue()


def test_a_form_with_too_many_fields_is_one_line_and_no_error(log, db):
    assert Browser().post("/sign-in", {f"x{n}": "" for n in range(10_001)}).status_code == 400
    [line] = [each for each in log.getvalue().splitlines() if "django.security" in each]
    assert " WARNING django.security.TooManyFieldsSent " in line
    assert "Traceback" not in log.getvalue()


def test_what_an_administrator_asked_for_in_vain_is_in_no_line(log, sign_in, superuser, company):
    query = "_to_field=secret-text&secret-name__gt=1"
    for path in ("company", "user"):
        sign_in(superuser).get(f"/admin/invoices/{path}/?{query}")
    lines = [each for each in log.getvalue().splitlines() if "django.security" in each]
    assert lines
    assert all(line.endswith("] A request was refused.") for line in lines)
    assert "secret" not in log.getvalue()


@pytest.mark.parametrize("field", ["Referer", "Origin"])
def test_a_forged_form_is_a_line_without_where_it_came_from(log, db, field):
    browser = Browser(enforce_csrf_checks=True)
    browser.get("/sign-in")
    elsewhere = "https://elsewhere.example/page?token=secret"
    assert browser.post("/sign-in", {}, headers={field: elsewhere}).status_code == 403
    [line] = [each for each in log.getvalue().splitlines() if "django.security" in each]
    assert line.endswith(f"Forbidden ({field} checking failed): /sign-in")


def fail(record: logging.LogRecord) -> str:
    raise MemoryError


@pytest.mark.parametrize("formatter", [TEXT, JsonLines()], ids=["text", "json"])
def test_of_a_line_that_cannot_be_written_only_that_is_told(formatter, capsys, monkeypatch):
    stream = StringIO()
    handler = StandardError(stream)
    handler.setFormatter(formatter)
    # Only the first line fails, as where memory is short for a moment.
    ways = iter([fail, handler.format])

    def write(record: logging.LogRecord) -> str:
        return next(ways)(record)

    monkeypatch.setattr(handler, "format", write)
    record = make_record("secret %s", "secret", error=ValueError("DETAIL: a whole row, secret"))

    handler.emit(record)

    told = stream.getvalue()
    assert "A line of some.logger could not be written (MemoryError)." in told
    assert told.count("\n") == 1
    assert "secret" not in told
    assert capsys.readouterr() == ("", "")


def test_a_line_that_cannot_be_written_at_all_is_lost(capsys):
    stream = StringIO()
    handler = StandardError(stream)
    stream.close()

    handler.emit(make_record("secret"))

    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["the service", "granian"])
def test_every_handler_of_the_log_hides_what_it_cannot_write(name):
    granian = json.loads((PROJECT_FOLDER / "deploy/granian.json").read_text(encoding="utf-8"))
    handlers = {"the service": LOGGING, "granian": granian}[name]["handlers"]
    assert {each["class"] for each in handlers.values()} == {
        f"{StandardError.__module__}.{StandardError.__qualname__}"
    }
