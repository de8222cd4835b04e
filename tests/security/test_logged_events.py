"""What the log says of those who try the doors: who, from where, how it ended, and no secret."""

import logging
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.cache import cache
from django.utils import timezone

from agent_access.credentials import make_credential
from invoicing.models import Company
from tests.factories import PASSWORD, UserFactory
from tests.operations.wsgi import ADDRESS, send
from tests.security.browser import send_body, send_form, session_cookie

pytestmark = pytest.mark.django_db

WRONG = "a-wrong-password"


def last(request_lines: Any) -> tuple[Any, ...]:
    line = request_lines()[-1]
    return tuple(line[name] for name in ("status", "outcome", "client_address", "person_id"))


def try_to_sign_in(username: str, password: str) -> int:
    return send_form("/sign-in", {"username": username, "password": password}).status


def test_signing_in_names_the_person_and_the_place(person, request_lines):
    assert try_to_sign_in(f" {person.email.upper()} ", PASSWORD) == 302
    assert last(request_lines) == (302, "signed_in", ADDRESS, str(person.id))


def test_a_refused_attempt_names_the_account_that_was_tried_and_nothing_typed(
    person, request_lines, caplog
):
    assert try_to_sign_in(person.email, WRONG) == 422
    assert last(request_lines) == (422, "sign_in_refused", ADDRESS, str(person.id))
    # A password ends up in the other field every day.
    for typed in ("nobody@halden.example", PASSWORD, "\0", ""):
        assert try_to_sign_in(typed, WRONG) == 422
        assert last(request_lines) == (422, "sign_in_refused", ADDRESS, "")
    assert not {PASSWORD, WRONG, person.email} & set(caplog.text.split())


def test_a_passkey_that_is_refused_is_told_and_nothing_typed(person, request_lines, caplog):
    assert send_form("/sign-in/passkey", {"assertion": "made-up"}).status == 422
    assert last(request_lines) == (422, "sign_in_refused", ADDRESS, "")
    assert "made-up" not in caplog.text


def test_a_right_password_that_is_too_little_is_told(person, company, request_lines):
    Company.objects.update(passkeys_required_from=timezone.now().date())
    assert try_to_sign_in(person.email, PASSWORD) == 200
    assert last(request_lines) == (200, "passkey_missing", ADDRESS, str(person.id))


def test_too_many_attempts_are_told(person, request_lines, time_machine):
    time_machine.move_to("2026-03-02T08:00:00+00:00", tick=False)
    statuses = [try_to_sign_in(person.email, WRONG) for _ in range(11)]
    assert statuses == [422] * 10 + [429]
    assert last(request_lines) == (429, "rate_limited", ADDRESS, "")


def test_an_attempt_that_cannot_be_counted_is_not_told_as_one_too_many(
    person, request_lines, monkeypatch
):
    monkeypatch.setattr(cache, "add", Mock(side_effect=ConnectionError))
    assert try_to_sign_in(person.email, PASSWORD) == 503
    assert last(request_lines) == (503, "", ADDRESS, "")


def test_a_page_that_is_refused_names_who_asked(company, sign_in, request_lines):
    nobody = UserFactory.create()
    cookie = session_cookie(sign_in(nobody))
    assert send("GET", "/documents", HTTP_COOKIE=cookie).status == 403
    assert last(request_lines) == (403, "", ADDRESS, str(nobody.id))
    assert send("GET", "/admin/", HTTP_COOKIE=cookie).status == 403
    assert last(request_lines) == (403, "", ADDRESS, str(nobody.id))


def test_a_page_that_is_shown_names_who_read_it(person, sign_in, request_lines):
    assert send("GET", "/documents", HTTP_COOKIE=session_cookie(sign_in(person))).status == 200
    assert last(request_lines) == (200, "", ADDRESS, str(person.id))
    assert send("GET", "/sign-in").status == 200
    assert last(request_lines) == (200, "", ADDRESS, "")


def test_a_bad_credential_and_a_wrong_door_name_the_place(access_on, request_lines):
    bearer = f"Bearer {make_credential()}"
    assert send("GET", "/api/v1/tools", HTTP_AUTHORIZATION=bearer).status == 401
    assert last(request_lines) == (401, "", ADDRESS, "")
    assert send("GET", "/api/v1/tools", HTTP_ORIGIN="https://evil.example").status == 403
    assert last(request_lines) == (403, "", ADDRESS, "")


def test_a_forged_form_is_told(person, sign_in, caplog):
    caplog.set_level(logging.WARNING, logger="django.security.csrf")
    answer = send_body("/sign-out", b"", HTTP_COOKIE=session_cookie(sign_in(person)))
    assert answer.status == 403
    [record] = [each for each in caplog.records if each.name == "django.security.csrf"]
    assert record.getMessage().startswith("Forbidden (")
