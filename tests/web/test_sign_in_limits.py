"""How often somebody may try to sign in, and from where."""

from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session
from django.core.cache import cache

from tests.browsers import Browser, sign_in_with
from tests.factories import PASSWORD, UserFactory
from tests.web.forms import main_of, text_of

# What is counted is in the cache, and the same whatever the database.
pytestmark = [pytest.mark.sqlite, pytest.mark.usefixtures("_clock_stands_still")]


def test_an_account_can_be_tried_ten_times_in_five_minutes_from_one_address(
    browser, person, time_machine
):
    for _ in range(10):
        assert sign_in_with(browser, person.email, "wrong").status_code == 422
    refused = sign_in_with(browser, person.email.upper())
    assert refused.status_code == 429
    assert "Too many attempts." in text_of(refused)
    seconds = int(refused["Retry-After"])
    assert 1 <= seconds <= 300
    assert sign_in_with(browser, "another@halden.example").status_code == 422
    elsewhere = Browser(REMOTE_ADDR="192.0.2.1")
    assert sign_in_with(elsewhere, person.email).status_code == 302
    time_machine.shift(seconds - 1)
    assert sign_in_with(browser, person.email).status_code == 429
    time_machine.shift(1)
    assert sign_in_with(browser, person.email).status_code == 302


def test_of_ipv6_a_whole_64_is_one_address(browser, person):
    for attempt in range(10):
        neighbour = Browser(REMOTE_ADDR=f"2001:db8::{attempt}:1")
        assert sign_in_with(neighbour, person.email, "wrong").status_code == 422
    assert sign_in_with(Browser(REMOTE_ADDR="2001:db8::9"), person.email).status_code == 429
    assert sign_in_with(Browser(REMOTE_ADDR="2001:db8:0:1::9"), person.email).status_code == 302


def test_an_account_can_be_tried_a_hundred_times_from_everywhere(browser, person):
    for attempt in range(100):
        elsewhere = Browser(REMOTE_ADDR=f"192.0.2.{attempt}")
        assert sign_in_with(elsewhere, person.email, "").status_code == 422
    assert sign_in_with(browser, person.email).status_code == 429


def test_an_address_can_try_thirty_times_and_locks_nobody_out(browser, person):
    for attempt in range(30):
        assert sign_in_with(browser, f"{attempt}@x.example", "").status_code == 422
    for _ in range(20):
        assert sign_in_with(browser, person.email).status_code == 429
    elsewhere = Browser(REMOTE_ADDR="192.0.2.1")
    assert sign_in_with(elsewhere, person.email).status_code == 302


def test_what_one_address_tries_over_its_limit_of_an_account_does_not_count_for_the_account(person):
    for attempt in range(120):
        guesser = Browser(REMOTE_ADDR=f"192.0.2.{attempt % 4}")
        sign_in_with(guesser, person.email, "wrong")
    elsewhere = Browser(REMOTE_ADDR="192.0.2.9")
    assert sign_in_with(elsewhere, person.email).status_code == 302


def test_an_office_behind_one_address_signs_in_in_the_morning(person):
    colleagues = [UserFactory(password=make_password(PASSWORD)) for _ in range(31)]
    for colleague in [*colleagues, *[person] * 11]:
        assert sign_in_with(Browser(), colleague.email).status_code == 302


def test_a_right_password_gives_no_guess_back(browser, person):
    for _ in range(9):
        assert sign_in_with(browser, person.email, "wrong").status_code == 422
    assert sign_in_with(Browser(), person.email).status_code == 302
    assert sign_in_with(browser, person.email, "wrong").status_code == 422
    assert sign_in_with(browser, person.email).status_code == 429


def test_an_attempt_counts_while_its_password_is_looked_at(browser, person, monkeypatch):
    def look_slowly(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.undo()
        statuses.append(sign_in_with(Browser(), person.email, "wrong").status_code)
        return authenticate(*args, **kwargs)

    statuses = [sign_in_with(browser, person.email, "wrong").status_code for _ in range(9)]
    monkeypatch.setattr("invoicing.web.accounts.sign_in.authenticate", look_slowly)
    statuses.append(sign_in_with(browser, person.email).status_code)
    assert statuses == [422] * 9 + [429, 302]


def test_the_address_is_the_one_behind_the_trusted_proxy(browser, settings):
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "TRUSTED_PROXIES": 1}
    statuses = []
    for attempt in range(31):
        headers = {"X-Forwarded-For": f"203.0.113.{attempt}", "X-Forwarded-Proto": "https"}
        form = {"username": f"{attempt}@x.example", "password": ""}
        statuses.append(browser.post("/sign-in", form, headers=headers).status_code)
    assert statuses == [422] * 31


@pytest.mark.parametrize("address", ["", "unix:", "not an address", "1.2.3.4:80"])
def test_a_client_without_a_usable_address_can_sign_in(person, address):
    browser = Browser(REMOTE_ADDR=address)
    assert sign_in_with(browser, person.email, "wrong").status_code == 422
    assert sign_in_with(browser, person.email).status_code == 302


def test_clients_without_a_usable_address_are_counted_together(person):
    for attempt in range(30):
        sign_in_with(Browser(REMOTE_ADDR="unix:"), f"{attempt}@x.example", "")
    assert sign_in_with(Browser(REMOTE_ADDR=""), person.email).status_code == 429


def test_an_unknown_account_is_limited_like_a_known_one(browser):
    statuses = [sign_in_with(browser, "nobody@halden.example").status_code for _ in range(11)]
    assert statuses == [422] * 10 + [429]


@pytest.mark.parametrize("failure", [ConnectionError, ValueError], ids=["gone", "forgetful"])
def test_nobody_is_let_in_uncounted_and_the_log_says_why(
    browser, person, monkeypatch, caplog, failure
):
    def fail(*args: object) -> None:
        raise failure

    if failure is ConnectionError:
        monkeypatch.setattr(cache, "add", fail)
    else:  # as memcached says that it has just dropped a count
        monkeypatch.setattr(cache, "add", lambda *_: False)
        monkeypatch.setattr(cache, "incr", fail)
    answer = sign_in_with(browser, person.email)
    assert answer.status_code == 503
    assert "Not available just now" in main_of(answer)
    assert answer["Retry-After"] == "60"
    assert not Session.objects.exists()
    [told] = [each for each in caplog.records if each.name == "invoicing.web.accounts.limits"]
    assert told.getMessage() == "Attempts cannot be counted."
    assert told.exc_info
    assert told.exc_info[0] is failure
