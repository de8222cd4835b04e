"""No secret in a log line: what looks like one is hidden, and of an error only its first line."""

import secrets
from uuid import UUID

import pytest
from typing_extensions import override

from agent_access.credentials import make_credential
from config.operations.traces import format_trace, redact_secrets

IDENTIFIER = "0190f1f0-0000-7000-8000-00000000abcd"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Bearer short", "Authorization: Bearer [hidden]"),
        ("{'HTTP_AUTHORIZATION': 'bearer a.b.c'}", "{'HTTP_AUTHORIZATION': 'bearer [hidden]'}"),
        ("postgresql://invoices:hunter2@db/x", "postgresql://[hidden]@db/x"),
        ("Authorization: Basic ZGFuYTpodW50ZXIy", "Authorization: Basic [hidden]"),
        ("{'HTTP_AUTHORIZATION': 'basic YTpi=='}", "{'HTTP_AUTHORIZATION': 'basic [hidden]'}"),
        ("redis://:hunter2@cache.internal:6379/0", "redis://[hidden]@cache.internal:6379/0"),
        ("redis://:Sw0rd/fish@cache: gone", "redis://[hidden]@cache: gone"),
        ("smtps://me:p@ss-w0rd@mail", "smtps://[hidden]@mail"),
        (f"session {'a1' * 16} of", "session [hidden] of"),
        (f"reset /set-password/MQ/c8f3k1-{'0a' * 16}", "reset /set-password/MQ/[hidden]"),
        (f"digest={'0123abcd' * 8}", "digest=[hidden]"),
        ("A" * 40, "[hidden]"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text, hidden):
    assert redact_secrets(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "GET /api/v1/customers 200 12.5 ms customers.search ok",
        f"document {IDENTIFIER}",
        "django.contrib.staticfiles.storage.CompressedManifestStaticFilesStorage",
        "test_a_name_of_a_function_that_is_rather_long_as_ours_are",
        "/opt/venv/lib/python3.14/site-packages/django/db/backends/postgresql/base.py",
        "connection to server at 10.0.0.5, port 5432 failed: Connection refused",
        "me@x.example",
        "https://x.example/api/v1/customers failed for me@x.example",
    ],
)
def test_what_an_operator_must_read_stays(text):
    assert redact_secrets(text) == text


def test_every_credential_of_ours_is_hidden():
    made = [make_credential() for _ in range(500)]
    made += [f"iva_{secrets.token_urlsafe(32)}" for _ in range(500)]
    assert {redact_secrets(each) for each in made} == {"[hidden]"}


def raise_it(error: Exception) -> None:
    raise error


def trace_of(error: Exception, cause: Exception | None = None) -> str:
    try:
        raise_it(error) if cause is None else raise_from(error, cause)
    except Exception as raised:  # noqa: BLE001  whatever was made
        return format_trace(raised)
    raise AssertionError


def raise_from(error: Exception, cause: Exception) -> None:
    try:
        raise_it(cause)
    except Exception as raised:
        raise error from raised


def test_a_trace_names_its_places_and_the_kind_of_error():
    lines = trace_of(ValueError("wrong")).splitlines()
    assert "in raise_it" in "".join(lines)
    assert lines[-1] == "ValueError: wrong"


def test_a_trace_has_its_cause_first():
    trace = trace_of(RuntimeError("then"), KeyError("first"))
    kinds = [line for line in trace.splitlines() if not line.startswith(" ")]
    assert kinds == ["KeyError: 'first'", "RuntimeError: then"]


def test_a_cause_that_was_set_aside_is_not_told():
    error = RuntimeError("then")
    error.__context__, error.__suppress_context__ = KeyError("first"), True
    assert format_trace(error) == "RuntimeError: then"


def test_errors_that_cause_each_other_end():
    first, second = ValueError("one"), ValueError("two")
    first.__context__, second.__context__ = second, first
    assert format_trace(first) == "ValueError: two\nValueError: one"


def test_only_the_first_line_of_an_error_is_told():
    said = 'violates "number_set"\nDETAIL:  Failing row contains (Confidential notes, 12500).'
    error = ValueError(said)
    error.add_note("Confidential too.")
    assert trace_of(error).splitlines()[-1] == 'ValueError: violates "number_set"'
    assert "Confidential" not in trace_of(error)


def test_a_secret_in_an_error_is_hidden():
    credential = make_credential()
    trace = trace_of(RuntimeError({"HTTP_AUTHORIZATION": f"Bearer {credential}"}, UUID(IDENTIFIER)))
    assert credential.removeprefix("ivc_") not in trace
    assert IDENTIFIER in trace


class UnspeakableError(Exception):
    @override
    def __str__(self) -> str:
        raise RuntimeError


def test_an_error_that_cannot_say_itself_is_told_all_the_same():
    assert trace_of(UnspeakableError()).splitlines()[-1].endswith("<exception str() failed>")
