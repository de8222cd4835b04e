"""The page behind a one-time link."""

import logging
from datetime import date

import pytest
from django.contrib.auth.hashers import check_password
from redis.exceptions import ConnectionError as RedisConnectionError

from invoicing.administration.sign_ins import make_code
from invoicing.models import Company, User
from tests.administration import acting, acts_written
from tests.browsers import Browser
from tests.factories import PASSWORD, UserFactory, make_auditor
from tests.interface.refusals import nothing_changes
from tests.security.browser import send_form
from tests.web.forms import main_of, text_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


NEW = "another-long-password"
NO_CODE = "This code is not valid."


@pytest.fixture
def code(owner, person) -> str:
    return make_code(acting(owner), person.pk)


def form(code: str, password: str = NEW, again: str | None = None) -> dict[str, str]:
    return {"code": code, "password": password, "again": password if again is None else again}


def test_the_person_chooses_a_password_and_signs_in(browser, sign_in, owner, person, connect):
    _, agent = connect(person)
    elsewhere = sign_in(person)
    code = make_code(acting(owner), person.pk)

    answer = browser.post("/set-password", form(f" {code} "))

    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert "Your password is set, and you are signed in." in main_of(browser.get("/"))
    assert elsewhere.get("/account").status_code == 302
    assert agent.call("tools.list").status == 401
    credentials = {"username": person.email, "password": NEW}
    assert Browser().post("/sign-in", credentials).status_code == 302


def test_the_session_that_begins_is_new_and_belongs_to_whose_code_it_was(
    browser, sign_in, owner, person, code
):
    other = sign_in(owner)
    before = other.cookies["__Host-session"].value
    other.post("/set-password", form(code))
    assert other.cookies["__Host-session"].value != before
    assert f"You are signed in as {person.name}, " in text_of(other.get("/account"))
    other.cookies["__Host-session"] = before
    assert other.get("/account").status_code == 302


def test_a_first_password_ends_nothing_and_says_so(browser, owner):
    person = UserFactory.create(name="Nora New")
    browser.post("/set-password", form(make_code(acting(owner), person.pk)))
    shown = main_of(browser.get("/"))
    assert "Your password is set, and you are signed in." in shown
    assert "Your earlier sessions" not in shown


def test_once_passkeys_are_required_no_password_signs_in_not_even_a_new_one(browser, person, code):
    Company.objects.update(passkeys_required_from=date(2020, 1, 1))
    answer = browser.post("/set-password", form(code))
    assert answer.status_code == 200
    assert "Sign in with your passkey" in main_of(answer)
    assert "__Host-session" not in browser.cookies
    assert browser.get("/account").status_code == 302
    assert check_password(NEW, User.objects.get(pk=person.pk).password)


def test_an_auditor_gets_to_evidence_and_no_further(browser, owner):
    auditor = make_auditor(date(2999, 1, 1))
    answer = browser.post("/set-password", form(make_code(acting(owner), auditor.pk)))
    assert answer.status_code == 302
    assert browser.get("/")["Location"] == "/evidence"
    assert browser.get("/documents").status_code == 403
    assert browser.get("/setup").status_code == 403


def test_a_used_code_reads_like_any_other_text(browser, code):
    browser.post("/set-password", form(code))
    with nothing_changes():
        answers = [
            browser.post("/set-password", form(each)) for each in (code, "nonsense", "A" * 40)
        ]
    assert [answer.status_code for answer in answers] == [422] * 3
    assert all(NO_CODE in main_of(answer) for answer in answers)


def test_looking_uses_nothing(browser, person, code):
    for _ in range(3):
        assert browser.get("/set-password").status_code == 200
    browser.head("/set-password")
    assert acts_written() == [("person:code_made", str(person.id), "")]
    assert browser.post("/set-password", form(code)).status_code == 302


def test_no_answer_is_kept_or_told_on(browser, code):
    answers = [
        browser.get("/set-password"),
        browser.post("/set-password", form("nonsense")),
        browser.post("/set-password", form(code)),
    ]
    # Not "no-referrer": browsers then send "Origin: null" with the form, which is refused. The
    # code is no part of any address that is sent.
    assert {answer["Referrer-Policy"] for answer in answers} == {"same-origin"}
    assert {answer["Cache-Control"] for answer in answers} == {"no-store"}


@pytest.mark.parametrize(
    ("password", "again", "sentence"),
    [
        ("short", "short", "This password is too short."),
        (NEW, "something-else", "The two passwords differ."),
    ],
)
def test_a_password_that_will_not_do_leaves_the_code_good(
    browser, person, code, password, again, sentence
):
    with nothing_changes():
        answer = browser.post("/set-password", form(code, password, again))
    assert answer.status_code == 422
    assert sentence in main_of(answer)
    assert f'value="{code}"' in main_of(answer)
    assert browser.post("/set-password", form(code)).status_code == 302


@pytest.mark.usefixtures("_clock_stands_still")
def test_guessing_ends_soon(browser, person, code):
    statuses = [browser.post("/set-password", form("A" * 40)).status_code for _ in range(30)]
    assert set(statuses) == {422}
    answer = browser.post("/set-password", form(code))
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    assert check_password(PASSWORD, User.objects.get(pk=person.pk).password)


def test_uncounted_no_code_is_used(browser, person, code, monkeypatch):
    def fail(*args: object, **kwargs: object) -> None:
        raise RedisConnectionError

    monkeypatch.setattr("invoicing.web.accounts.limits.count", fail)
    answer = browser.post("/set-password", form(code))
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert check_password(PASSWORD, User.objects.get(pk=person.pk).password)


@pytest.mark.usefixtures("_clock_stands_still")
def test_behind_a_proxy_nobody_uses_up_the_attempts_of_another(browser, code, settings):
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "TRUSTED_PROXIES": 1}

    def send(address: str, code: str) -> int:
        headers = {"X-Forwarded-For": address, "X-Forwarded-Proto": "https"}
        answer = browser.post("/set-password", form(code), headers=headers)
        return int(answer.status_code)

    statuses = [send("203.0.113.1", "A" * 40) for _ in range(31)]
    assert statuses == [422] * 30 + [429]
    assert send("203.0.113.2", code) == 302


@pytest.mark.parametrize("address", ["", "unix:", "not an address"])
def test_a_code_works_from_a_place_without_a_usable_address(code, address):
    answer = Browser(REMOTE_ADDR=address).post("/set-password", form(code))
    assert answer.status_code == 302


def test_the_form_needs_its_token(code, person):
    browser = Browser(enforce_csrf_checks=True)
    browser.get("/set-password")
    assert browser.post("/set-password", form(code)).status_code == 403
    assert check_password(PASSWORD, User.objects.get(pk=person.pk).password)


def test_no_log_has_the_code(code, request_lines, caplog):
    caplog.set_level(logging.DEBUG)
    Browser(enforce_csrf_checks=True).post("/set-password", form(code))
    assert send_form("/set-password", form(code)).status == 302
    assert [line["method"] for line in request_lines()] == ["GET", "POST"]
    assert code not in caplog.text
